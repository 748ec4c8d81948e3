#pragma once
#include "../prelude.h"
#include <stdint.h>

/* sin(r) = r + r^3 q(r^2) for |r| <= pi/4. */
TW_KERNEL float tw_sin_near_0(float r)
{
    const float z = r * r;
    const float q = -0x1.5555560000000p-3f
        + (z * (0x1.1111660000000p-7f
        + (z * (-0x1.a04a740000000p-13f
        + (z * 0x1.7864cc0000000p-19f)))));
    return r + (r * z * q);
}
