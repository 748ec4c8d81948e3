#pragma once
#include "tw_asin_below_half.h"
#include "tw_sqrtf.h"
#include "../prelude.h"
#include <math.h>
#include <stdint.h>

/* acos(x); beyond 1/2 by half of the angle. */
TW_KERNEL float tw_acosf(float x)
{
    const float size = (x < 0.0f) ? -x : x;
    if (!(size > 0.5f)) {
        return 0x1.921fb60000000p+0f - (tw_asin_below_half(x) + 0x1.777a5c0000000p-25f);
    }
    if (size > 1.0f) {
        return NAN;
    }
    const float angle = 2.0f * tw_asin_below_half(tw_sqrtf(0.5f * (1.0f - size)));
    return (x < 0.0f) ? (0x1.921fb60000000p+1f - (angle + 0x1.777a5c0000000p-24f)) : angle;
}
