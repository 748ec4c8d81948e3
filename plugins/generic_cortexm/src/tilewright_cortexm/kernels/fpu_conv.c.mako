<%doc> Needs function, four and one (names of blocks), apart (whether taps are). </%doc>\
#include "fpu_conv.h"

/* Pixels of a row four at a time where all of their windows are inside, else one by one with the taps that are. */
TW_KERNEL void ${function}(const tw_fpu_conv p, const float *x, const float *w, const float *bias, float *y)
{
    for (int32_t i = 0; i < p.out_height; ++i) {
        const int32_t line = (i * p.row_stride) - p.top;
        const tw_float_inside down = tw_float_taps_inside(line, p.rows, p.row_dilation, p.height);
        int32_t count = 0;
        for (int32_t j = 0; j < p.out_width; j += count) {
            const int32_t start = (j * p.column_stride) - p.left;
            const tw_float_inside across = tw_float_taps_inside(start, p.columns, p.column_dilation, p.width);
            const int32_t inside = (down.end > down.first) ? (across.end - across.first) : 0;
            const int32_t end = start + (3 * p.column_stride) + ((p.columns - 1) * p.column_dilation);
            count = ((inside == p.columns) && (end < p.width) && ((j + 4) <= p.out_width)) ? 4 : 1;
            const int32_t values = ${"p.channels" if apart else "inside * p.channels"};
            const tw_fpu_block b = {
                .x = (inside > 0) ? tw_float_at(x,
                    ((line + (down.first * p.row_dilation)) * p.x_row)
                    + ((start + (across.first * p.column_dilation)) * p.x_step)) : x,
                .x_step = p.column_stride * p.x_step,
                .w = (inside > 0) ? (w + (4 * p.channels * ((down.first * p.columns) + across.first))) : w,
                .w_block = 16 * p.channels * p.rows * p.columns,
                .bias = bias,
                .outputs = p.outputs,
                .y = y + (((i * p.y_row) + (j * p.y_step)) / 4),
                .y_step = p.y_step,
                .fours = (inside > 0) ? (values / 4) : 0,
                .rest = (inside > 0) ? (values % 4) : 0,
                .x_jump = (p.row_dilation * p.x_row) - (inside * p.column_dilation * p.x_step),
                .w_jump = 16 * p.channels * (p.columns - inside),
                .rows = (inside > 0) ? (down.end - down.first) : 1,
                .taps = ${"(inside > 0) ? inside : 1" if apart else 1},
                .x_tap = ${"(p.column_dilation * p.x_step) - (4 * p.channels)" if apart else 0},
                .low = p.low,
                .high = p.high,
            };
            ((count == 4) ? ${four} : ${one})(&b);
        }
    }
}
