#pragma once
#include "tw_log1pf.h"
#include "../prelude.h"
#include <math.h>
#include <stdint.h>

/* atanh(x) = log((1 + x) / (1 - x)) / 2, with the sign of x. */
TW_KERNEL float tw_atanhf(float x)
{
    const float size = (x < 0.0f) ? -x : x;
    if (!(size < 1.0f)) {
        return (size == 1.0f) ? ((x < 0.0f) ? -INFINITY : INFINITY) : NAN;
    }
    if (size < 0x1.0p-12f) {
        return x;
    }
    const float y = 0.5f * tw_log1pf(2.0f * size / (1.0f - size));
    return (x < 0.0f) ? -y : y;
}
