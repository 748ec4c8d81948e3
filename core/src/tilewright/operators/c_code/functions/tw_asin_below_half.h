#pragma once
#include "../prelude.h"
#include <stdint.h>

/* asin(s) = s + s^3 q(s^2) for |s| <= 1/2. */
TW_KERNEL float tw_asin_below_half(float s)
{
    const float z = s * s;
    const float q = 0x1.55554c0000000p-3f
        + (z * (0x1.3338960000000p-4f
        + (z * (0x1.6cac800000000p-5f
        + (z * (0x1.049d920000000p-5f
        + (z * (0x1.d8b44e0000000p-7f
        + (z * 0x1.3369bc0000000p-5f)))))))));
    return s + (s * z * q);
}
