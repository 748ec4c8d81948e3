#include "prelude.h"
#include <stdint.h>

/* One row: every output is a weighted sum of elements from its own first one on. */
TW_KERNEL void tw_resample_f32(int32_t size, int32_t taps, const float *x, int32_t x_step, const int32_t *first,
                               int32_t first_step, const float *w, int32_t w_row, int32_t w_step, float *y,
                               int32_t y_step)
{
    for (int32_t i = 0; i < size; ++i) {
        const float *const xi = x + (first[i * first_step] * x_step);
        float sum = 0.0f;
        for (int32_t k = 0; k < taps; ++k) {
            sum += w[(i * w_row) + (k * w_step)] * xi[k * x_step];
        }
        y[i * y_step] = sum;
    }
}
