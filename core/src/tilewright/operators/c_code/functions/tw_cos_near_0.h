#pragma once
#include "../prelude.h"
#include <stdint.h>

/* cos(r) = 1 - r^2/2 + r^4 q(r^2) for |r| <= pi/4. */
TW_KERNEL float tw_cos_near_0(float r)
{
    const float z = r * r;
    const float q = 0x1.5555560000000p-5f
        + (z * (-0x1.6c17520000000p-10f
        + (z * (0x1.a065fa0000000p-16f
        + (z * -0x1.33462c0000000p-22f)))));
    return 1.0f - ((0.5f * z) - (z * z * q));
}
