#pragma once
#include "../prelude.h"
#include <stdint.h>

/* min(max(v, low), high); NaN stays NaN. */
TW_KERNEL float tw_clip(float v, float low, float high)
{
    return (v < low) ? low : ((v > high) ? high : v);
}
