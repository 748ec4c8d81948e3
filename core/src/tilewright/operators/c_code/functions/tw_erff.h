#pragma once
#include "tw_upper_tail.h"
#include "../prelude.h"
#include <stdint.h>

/* erf(x): x + x q(x^2) below 7/8, from the tail of the normal distribution above. */
TW_KERNEL float tw_erff(float x)
{
    const float size = (x < 0.0f) ? -x : x;
    if (size < 0.875f) {
        const float z = x * x;
        const float q = 0x1.06eba80000000p-3f
        + (z * (-0x1.8127420000000p-2f
        + (z * (0x1.ce2e000000000p-4f
        + (z * (-0x1.b80fd80000000p-6f
        + (z * (0x1.54e2740000000p-8f
        + (z * (-0x1.ab8e600000000p-11f
        + (z * 0x1.6248520000000p-14f)))))))))));
        return x + (x * q);
    }
    const float y = 1.0f - tw_upper_tail(size * 0x1.6a09e60000000p+0f, 2.0f);
    return (x < 0.0f) ? -y : y;
}
