#pragma once
#include "../prelude.h"
#include <stdint.h>

/* atan(x): s + s^3 q(s^2) near 0, around 1 by (x - 1) / (x + 1), above by 1 / x. */
TW_KERNEL float tw_atanf(float x)
{
    const float size = (x < 0.0f) ? -x : x;
    const float low = (size > 1.0f) ? (1.0f / size) : size;
    const float s = (low > 0x1.a8279a0000000p-2f) ? ((low - 1.0f) / (low + 1.0f)) : low;
    const float z = s * s;
    const float q = -0x1.5555540000000p-2f
        + (z * (0x1.9998b20000000p-3f
        + (z * (-0x1.2475880000000p-3f
        + (z * (0x1.c39ec80000000p-4f
        + (z * (-0x1.5764da0000000p-4f
        + (z * 0x1.767e7e0000000p-5f)))))))));
    float y = s + (s * z * q);
    if (low > 0x1.a8279a0000000p-2f) {
        y = 0x1.921fb60000000p-1f + (y - 0x1.777a5c0000000p-26f);
    }
    if (size > 1.0f) {
        y = 0x1.921fb60000000p+0f - (y + 0x1.777a5c0000000p-25f);
    }
    return (x < 0.0f) ? -y : y;
}
