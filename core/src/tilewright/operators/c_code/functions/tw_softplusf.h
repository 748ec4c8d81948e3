#pragma once
#include "tw_expf.h"
#include "../prelude.h"
#include <stdint.h>

/* log(1 + exp(x)) = max(x, 0) + log(1 + u), u = exp(-|x|); log(1 + u) = 2 atanh(u / (2 + u)). */
TW_KERNEL float tw_softplusf(float x)
{
    const float u = tw_expf((x < 0.0f) ? x : -x);
    const float s = u / (2.0f + u);
    const float z = s * s;
    const float q = 0x1.5555000000000p-2f
        + (z * (0x1.99d2700000000p-3f
        + (z * (0x1.1eb8160000000p-3f
        + (z * 0x1.1eeb2c0000000p-3f)))));
    const float y = 2.0f * (s + (s * z * q));
    return (x > 0.0f) ? (x + y) : y;
}
