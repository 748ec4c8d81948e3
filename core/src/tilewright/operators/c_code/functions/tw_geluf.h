#pragma once
#include "tw_upper_tail.h"
#include "../prelude.h"
#include <stdint.h>

/* x times the part of the normal distribution below x. */
TW_KERNEL float tw_geluf(float x)
{
    if (x < 0.0f) {
        return (x > -14.5f) ? tw_upper_tail(-x, x) : -0.0f;
    }
    return x * (1.0f - tw_upper_tail(x, 1.0f));
}
