#pragma once
#include "tw_expf.h"
#include "../prelude.h"
#include <stdint.h>

/* 1 / (1 + exp(-x)), by an exponential that cannot overflow. */
TW_KERNEL float tw_sigmoidf(float x)
{
    const float e = tw_expf((x < 0.0f) ? x : -x);
    return ((x < 0.0f) ? e : 1.0f) / (1.0f + e);
}
