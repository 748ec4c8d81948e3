<%doc>
Needs what `element_names` has, and record (the struct's name).
</%doc>\
#include "window.h"
#include "prelude.h"
#include <stdint.h>

/* The same for a part of the channels: sums are kept in `acc` from part to part, y is written after the last one. */
typedef struct {
    /* extents of the output tile */
    int32_t batches;
    int32_t outputs;
    /* channels of one group that this part has; outputs of one group */
    int32_t group_inputs;
    int32_t group_outputs;
    int32_t group_channels; /* channels from one group of x to the next */
    int32_t first_output; /* channel of the tile's first output in the whole tensor */
    /* elements between neighbours */
    int32_t x_batch;
    int32_t x_channel;
    int32_t y_batch;
    int32_t y_channel;
    int32_t w_output;
    int32_t w_channel;
    tw_axis depth;
    tw_axis row;
    tw_axis column;
    float low;
    float high;
    /* whether this is the first part, the last part */
    int32_t first;
    int32_t last;
    int32_t acc_batch;
    int32_t acc_channel;
    int32_t acc_depth;
    int32_t acc_row;
    int32_t acc_column;
} ${record};

TW_KERNEL float tw_conv_part_window_${kind}(const ${record} *p, tw_taps depth, tw_taps row, tw_taps column,
                                        const ${stored} *x, const ${stored} *w, float sum)
{
    for (int32_t kd = depth.first; kd < depth.last; ++kd) {
        for (int32_t kr = row.first; kr < row.last; ++kr) {
            for (int32_t kc = column.first; kc < column.last; ++kc) {
                const ${stored} *const xt = x + ((depth.start + (kd * p->depth.dilation)) * p->depth.x_step)
                    + ((row.start + (kr * p->row.dilation)) * p->row.x_step)
                    + ((column.start + (kc * p->column.dilation)) * p->column.x_step);
                const ${stored} *const wt = w + (kd * p->depth.w_step) + (kr * p->row.w_step) + (kc * p->column.w_step);
                for (int32_t c = 0; c < p->group_inputs; ++c) {
                    sum += ${load("xt[c * p->x_channel]")} * ${load("wt[c * p->w_channel]")};
                }
            }
        }
    }
    return sum;
}

/* One window, every output of the tile. */
TW_KERNEL void tw_conv_part_outputs_${kind}(const ${record} *p, tw_taps depth, tw_taps row, tw_taps column,
                                        const ${stored} *x, const ${stored} *w, const ${stored} *b, float *acc, ${stored} *y)
{
    const int32_t skipped = p->first_output % p->group_outputs;
    for (int32_t o = 0; o < p->outputs; ++o) {
        const ${stored} *const xg = x + ((skipped + o) / p->group_outputs * p->group_channels * p->x_channel);
        const float begun = p->first ? (b ? ${load("b[o]")} : 0.0f) : acc[o * p->acc_channel];
        const float sum = tw_conv_part_window_${kind}(p, depth, row, column, xg, w + (o * p->w_output), begun);
        if (p->last) {
            y[o * p->y_channel] = ${rounded("sum < p->low ? p->low : (sum > p->high ? p->high : sum)")};
        } else {
            acc[o * p->acc_channel] = sum;
        }
    }
}

TW_KERNEL void tw_conv_part_${kind}(const ${record} p, const ${stored} *x, const ${stored} *w, const ${stored} *b, float *acc,
                                ${stored} *y)
{
    for (int32_t n = 0; n < p.batches; ++n) {
        for (int32_t i = 0; i < p.depth.outputs; ++i) {
            const tw_taps depth = tw_taps_inside(&p.depth, i);
            for (int32_t j = 0; j < p.row.outputs; ++j) {
                const tw_taps row = tw_taps_inside(&p.row, j);
                for (int32_t k = 0; k < p.column.outputs; ++k) {
                    const tw_taps column = tw_taps_inside(&p.column, k);
                    tw_conv_part_outputs_${kind}(
                        &p, depth, row, column, x + (n * p.x_batch), w, b,
                        acc + (n * p.acc_batch) + (i * p.acc_depth) + (j * p.acc_row) + (k * p.acc_column),
                        y + (n * p.y_batch) + (i * p.depth.y_step) + (j * p.row.y_step) + (k * p.column.y_step));
                }
            }
        }
    }
}
