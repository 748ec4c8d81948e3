#include "functions/tw_roundf.h"
#include "prelude.h"
#include <stdint.h>

/* Scale and zero point with which 0 to 255 reach from the smallest value, or 0, to the largest, or 0. */
TW_KERNEL void tw_dynamic_scale(float smallest, float largest, float *scale, uint8_t *zero_point)
{
    const float low = (smallest > 0.0f) ? 0.0f : smallest;
    const float high = (largest < 0.0f) ? 0.0f : largest;
    const float span = high - low;
    const float step = (span == 0.0f) ? 1.0f : (span / 255.0f);
    const float below = 0.0f - (low / step);
    const float inside = (below >= 0.0f) ? ((below > 255.0f) ? 255.0f : below) : 0.0f;
    *scale = step;
    *zero_point = (uint8_t)tw_roundf(inside);
}
