#include "functions/tw_nearest.h"
#include "functions/tw_saturate.h"
#include "prelude.h"
#include <stdint.h>

/* The smallest and the largest value so far, and those of a row; NaN where one is NaN. */
TW_KERNEL void tw_dynamic_ends(int32_t count, const float *x, int32_t x_step, float *ends)
{
    float low = ends[0];
    float high = ends[1];
    for (int32_t i = 0; i < count; ++i) {
        const float value = x[i * x_step];
        low = ((value < low) || (value != value)) ? value : low;
        high = ((value > high) || (value != value)) ? value : high;
    }
    ends[0] = low;
    ends[1] = high;
}

/* y = x / scale, the nearest integer, halves to the even one, moved by the zero point into 0 to 255. */
TW_KERNEL void tw_dynamic_bytes(int32_t count, const float *x, int32_t x_step, float scale, int32_t zero, uint8_t *y,
                                int32_t y_step)
{
    for (int32_t i = 0; i < count; ++i) {
        y[i * y_step] = (uint8_t)tw_saturate(tw_nearest(x[i * x_step] / scale), zero, 0, 255);
    }
}
