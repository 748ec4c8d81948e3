#include "functions/tw_sqrtf.h"
#include "prelude.h"
#include <stdint.h>

/* One row: y = (x - mean) / sqrt(mean((x - mean)^2) + epsilon) * scale + shift; without `centred` the mean is 0.
 * The mean is the first element and the mean of all distances from it: exact where all are equal.
 * The addresses of scale and shift may be 0: 1 and 0 then. */
TW_KERNEL void tw_layer_normalization_f32(int32_t count, int32_t centred, float epsilon, const float *x, int32_t x_step,
                                          const float *scale, const float *shift, float *y, int32_t y_step)
{
    float mean = 0.0f;
    float variance = 0.0f;
    if (centred && (count > 0)) {
        const float first = x[0];
        for (int32_t i = 1; i < count; ++i) {
            mean += x[i * x_step] - first;
        }
        mean = first + (mean / (float)count);
    }
    for (int32_t i = 0; i < count; ++i) {
        const float d = x[i * x_step] - mean;
        variance += d * d;
    }
    const float factor = 1.0f / tw_sqrtf((variance / (float)count) + epsilon);
    for (int32_t i = 0; i < count; ++i) {
        const float even = (x[i * x_step] - mean) * factor;
        y[i * y_step] = (scale ? (even * scale[i]) : even) + (shift ? shift[i] : 0.0f);
    }
}
