#pragma once
#include "tw_exp2_int.h"
#include "../prelude.h"
#include <math.h>
#include <stdint.h>

/* exp(x), at most 1 ULP off: x = n ln2 + r, |r| <= ln2/2, exp(x) = 2^n (1 + r + r^2 q(r)). NaN stays NaN. */
TW_KERNEL float tw_expf(float x)
{
    if (!(x > -104.0f)) {
        return (x < 0.0f) ? 0.0f : x;
    }
    if (x > 89.0f) {
        return INFINITY;
    }
    const float scaled = x * 0x1.7154760000000p+0f;
    const float moved = (scaled < 0.0f) ? (scaled - 0.5f) : (scaled + 0.5f);
    const int32_t n = (int32_t)moved;
    const float r = (x - ((float)n * 0x1.62e4000000000p-1f)) - ((float)n * 0x1.7f7d1c0000000p-20f);
    const float q = 0x1.0000000000000p-1f
        + (r * (0x1.5554660000000p-3f
        + (r * (0x1.5552fe0000000p-5f
        + (r * (0x1.1257d20000000p-7f
        + (r * 0x1.6ff2540000000p-10f)))))));
    const float mantissa = 1.0f + (r + (r * r * q));
    const int32_t half = n / 2; /* two steps: results below 2^-126 and above 2^127 are reached through normal ones */
    return mantissa * tw_exp2_int(half) * tw_exp2_int(n - half);
}
