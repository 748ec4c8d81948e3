#pragma once
#include "tw_split.h"
#include "../prelude.h"
#include <math.h>
#include <stdint.h>

/* log(x): x = 2^n (1 + f), log(x) = n ln2 + f - f^2/2 + f^3 q(f). */
TW_KERNEL float tw_logf(float x)
{
    if (!((x > 0.0f) && (x < INFINITY))) {
        return (x == 0.0f) ? -INFINITY : ((x > 0.0f) ? x : NAN);
    }
    int32_t n;
    const float f = tw_split(x, &n) - 1.0f;
    const float k = (float)n;
    const float q = 0x1.5555640000000p-2f
        + (f * (-0x1.00023e0000000p-2f
        + (f * (0x1.9998680000000p-3f
        + (f * (-0x1.54670e0000000p-3f
        + (f * (0x1.2362f00000000p-3f
        + (f * (-0x1.0e6ba20000000p-3f
        + (f * (0x1.0267a60000000p-3f
        + (f * -0x1.2d435c0000000p-4f)))))))))))));
    const float rest = (f * f * ((f * q) - 0.5f)) + (k * 0x1.7f7d1c0000000p-20f);
    return (k * 0x1.62e4000000000p-1f) + (f + rest);
}
