#include "pool.h"

/* The largest element of one window, channel by channel; the lowest value where all is padding${"; NaN stays NaN" if floating else ""}. */
TW_KERNEL void tw_max_window_${short}(const tw_pool *p, tw_taps depth, tw_taps row, tw_taps column, const ${type} *x,
                                  ${type} *y)
{
    for (int32_t c = 0; c < p->channels; ++c) {
        y[c * p->y_channel] = ${lowest};
    }
    for (int32_t kd = depth.first; kd < depth.last; ++kd) {
        for (int32_t kr = row.first; kr < row.last; ++kr) {
            for (int32_t kc = column.first; kc < column.last; ++kc) {
                const ${type} *const xt = x + ((depth.start + (kd * p->depth.dilation)) * p->depth.x_step)
                    + ((row.start + (kr * p->row.dilation)) * p->row.x_step)
                    + ((column.start + (kc * p->column.dilation)) * p->column.x_step);
                for (int32_t c = 0; c < p->channels; ++c) {
                    const ${type} v = xt[c * p->x_channel];
                    const ${type} largest = y[c * p->y_channel];
                    y[c * p->y_channel] = (${"(v > largest) || (v != v)" if floating else "v > largest"}) ? v : largest;
                }
            }
        }
    }
}

TW_KERNEL void tw_max_pool_${short}(const tw_pool p, const ${type} *x, ${type} *y)
{
    for (int32_t n = 0; n < p.batches; ++n) {
        for (int32_t i = 0; i < p.depth.outputs; ++i) {
            const tw_taps depth = tw_taps_inside(&p.depth, i);
            for (int32_t j = 0; j < p.row.outputs; ++j) {
                const tw_taps row = tw_taps_inside(&p.row, j);
                for (int32_t k = 0; k < p.column.outputs; ++k) {
                    const tw_taps column = tw_taps_inside(&p.column, k);
                    tw_max_window_${short}(&p, depth, row, column, x + (n * p.x_batch),
                                       y + (n * p.y_batch) + (i * p.depth.y_step) + (j * p.row.y_step)
                                           + (k * p.column.y_step));
                }
            }
        }
    }
}
