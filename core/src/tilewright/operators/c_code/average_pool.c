#include "pool.h"
#include "prelude.h"
#include <stdint.h>

/* The mean of one window, channel by channel, over `count` positions; 0 where nothing counts; NaN kept. */
TW_KERNEL void tw_average_window_f32(const tw_pool *p, tw_taps depth, tw_taps row, tw_taps column, int32_t count,
                                     float low, float high, const float *x, float *y)
{
    for (int32_t c = 0; c < p->channels; ++c) {
        y[c * p->y_channel] = 0.0f;
    }
    for (int32_t kd = depth.first; kd < depth.last; ++kd) {
        for (int32_t kr = row.first; kr < row.last; ++kr) {
            for (int32_t kc = column.first; kc < column.last; ++kc) {
                const float *const xt = x + ((depth.start + (kd * p->depth.dilation)) * p->depth.x_step)
                    + ((row.start + (kr * p->row.dilation)) * p->row.x_step)
                    + ((column.start + (kc * p->column.dilation)) * p->column.x_step);
                for (int32_t c = 0; c < p->channels; ++c) {
                    y[c * p->y_channel] += xt[c * p->x_channel];
                }
            }
        }
    }
    const float divisor = (float)((count > 0) ? count : 1);
    for (int32_t c = 0; c < p->channels; ++c) {
        const float v = y[c * p->y_channel] / divisor;
        y[c * p->y_channel] = (v < low) ? low : ((v > high) ? high : v);
    }
}

/* Positions of one axis of a window that count: those inside, or with `padding` those before the padding's end. */
TW_KERNEL int32_t tw_counted(const tw_axis *axis, tw_taps taps, int32_t padding)
{
    return padding ? tw_taps_below(axis, taps.start, axis->counted) : (taps.last - taps.first);
}

TW_KERNEL void tw_average_pool_f32(const tw_pool p, int32_t padding, float low, float high, const float *x, float *y)
{
    for (int32_t n = 0; n < p.batches; ++n) {
        for (int32_t i = 0; i < p.depth.outputs; ++i) {
            const tw_taps depth = tw_taps_inside(&p.depth, i);
            for (int32_t j = 0; j < p.row.outputs; ++j) {
                const tw_taps row = tw_taps_inside(&p.row, j);
                const int32_t rows = tw_counted(&p.depth, depth, padding) * tw_counted(&p.row, row, padding);
                for (int32_t k = 0; k < p.column.outputs; ++k) {
                    const tw_taps column = tw_taps_inside(&p.column, k);
                    tw_average_window_f32(&p, depth, row, column, rows * tw_counted(&p.column, column, padding), low,
                                          high, x + (n * p.x_batch),
                                          y + (n * p.y_batch) + (i * p.depth.y_step) + (j * p.row.y_step)
                                              + (k * p.column.y_step));
                }
            }
        }
    }
}
