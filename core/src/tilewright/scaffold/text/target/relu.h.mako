#include "prelude.h"

/* max(x, 0) of `count` elements. */
TW_KERNEL void ${module}_relu(int32_t count, int32_t x_step, int32_t y_step, const float *x, float *y)
{
    for (int32_t i = 0; i < count; ++i) {
        const float value = x[i * x_step];
        y[i * y_step] = value < 0.0f ? 0.0f : value;
    }
}
