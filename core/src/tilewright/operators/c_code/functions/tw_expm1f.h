#pragma once
#include "tw_exp2_int.h"
#include "../prelude.h"
#include <math.h>
#include <stdint.h>

/* exp(x) - 1 without cancellation: x = n ln2 + r, exp(x) - 1 = 2^n (r + r^2 q(r) + 1 - 2^-n). */
TW_KERNEL float tw_expm1f(float x)
{
    if (!(x > -18.0f)) {
        return (x < 0.0f) ? -1.0f : x;
    }
    if (x > 89.0f) {
        return INFINITY;
    }
    const float scaled = x * 0x1.7154760000000p+0f;
    const float moved = (scaled < 0.0f) ? (scaled - 0.5f) : (scaled + 0.5f);
    const int32_t n = (int32_t)moved;
    const float r = (x - ((float)n * 0x1.62e4000000000p-1f)) - ((float)n * 0x1.7f7d1c0000000p-20f);
    const float q = 0x1.0000000000000p-1f
        + (r * (0x1.5555540000000p-3f
        + (r * (0x1.5554f00000000p-5f
        + (r * (0x1.1113080000000p-7f
        + (r * (0x1.6d436e0000000p-10f
        + (r * 0x1.9e07820000000p-13f)))))))));
    const float p = r + (r * r * q);
    if (n == 0) {
        return p;
    }
    const float mantissa = p + (1.0f - ((n > 40) ? 0.0f : tw_exp2_int(-n)));
    const int32_t half = n / 2;
    return mantissa * tw_exp2_int(half) * tw_exp2_int(n - half);
}
