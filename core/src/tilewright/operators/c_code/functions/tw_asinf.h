#pragma once
#include "tw_asin_below_half.h"
#include "tw_sqrtf.h"
#include "../prelude.h"
#include <math.h>
#include <stdint.h>

/* asin(x); above 1/2 by the angle that is left to pi/2. */
TW_KERNEL float tw_asinf(float x)
{
    const float size = (x < 0.0f) ? -x : x;
    if (!(size > 0.5f)) {
        return tw_asin_below_half(x);
    }
    if (size > 1.0f) {
        return NAN;
    }
    const float half = tw_asin_below_half(tw_sqrtf(0.5f * (1.0f - size)));
    const float y = 0x1.921fb60000000p+0f - ((2.0f * half) + 0x1.777a5c0000000p-25f);
    return (x < 0.0f) ? -y : y;
}
