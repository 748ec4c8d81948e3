#include "line.h"
#include "prelude.h"
#include <stdint.h>

TW_KERNEL float tw_mix(float one, float other, float share)
{
    return (one * (1.0f - share)) + (other * share);
}

TW_KERNEL void tw_resize_linear_f32(const tw_resize_linear p, const float *x, float *y)
{
    for (int32_t n = 0; n < p.batches; ++n) {
        for (int32_t j = 0; j < p.row.outputs; ++j) {
            const tw_neighbours row = tw_line_at(&p.row, j);
            const float lower = (float)row.share / (float)p.row.divisor;
            for (int32_t k = 0; k < p.column.outputs; ++k) {
                const tw_neighbours column = tw_line_at(&p.column, k);
                const float right = (float)column.share / (float)p.column.divisor;
                const float *const xn = x + (n * p.x_batch);
                float *const yn = y + (n * p.y_batch) + (j * p.row.y_step) + (k * p.column.y_step);
                for (int32_t c = 0; c < p.channels; ++c) {
                    const float *const above = xn + (c * p.x_channel) + row.before;
                    const float *const below = xn + (c * p.x_channel) + row.after;
                    yn[c * p.y_channel] = tw_mix(tw_mix(above[column.before], above[column.after], right),
                                                 tw_mix(below[column.before], below[column.after], right), lower);
                }
            }
        }
    }
}
