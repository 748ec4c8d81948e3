<%doc> Needs function, one and more (names of blocks; more may be ""), pixels (of `more`). </%doc>\
#include "fpu_depthwise.h"

% if more:
/* ${pixels} pixels of a row at a time where all of their windows are inside, else one by one with the taps that are. */
% else:
/* Pixel by pixel, with the taps that are inside. */
% endif
TW_KERNEL void ${function}(const tw_float_depthwise p, const float *x, const float *w, const float *bias, float *y)
{
    const int32_t step = 4 * p.channels;
    for (int32_t i = 0; i < p.out_height; ++i) {
        const int32_t line = (i * p.row_stride) - p.top;
        const tw_float_inside down = tw_float_taps_inside(line, p.rows, p.row_dilation, p.height);
        int32_t count = 0;
        for (int32_t j = 0; j < p.out_width; j += count) {
            const int32_t start = (j * p.column_stride) - p.left;
            const tw_float_inside across = tw_float_taps_inside(start, p.columns, p.column_dilation, p.width);
            const int32_t inside = (down.end > down.first) ? (across.end - across.first) : 0;
            const int32_t column = start + (across.first * p.column_dilation);
% if more:
            const int32_t last = start + (${pixels - 1} * p.column_stride) + p.columns;
            count = ((inside == p.columns) && (last <= p.width) && ((j + ${pixels}) <= p.out_width)) ? ${pixels} : 1;
% else:
            count = 1;
% endif
            tw_float_block b = {
                .x = (inside > 0) ? tw_float_at(x,
                    ((line + (down.first * p.row_dilation)) * p.x_row) + (column * step)) : x,
                .x_step = p.column_dilation * step,
                .w = (inside > 0) ? (w + (4 * ((down.first * p.columns) + across.first))) : w,
                .w_block = 16 * p.rows * p.columns,
                .bias = bias,
                .y = y + (((i * p.y_row) + (j * step)) / 4),
                .y_step = step,
                .outputs = p.channels,
                .runs = (inside > 0) ? (down.end - down.first) : 1,
                .fours = inside,
                .x_jump = (p.row_dilation * p.x_row) - (inside * p.column_dilation * step),
                .w_jump = 16 * (p.columns - inside),
                .low = p.low,
                .high = p.high,
            };
% if more:
            ((count == ${pixels}) ? ${more} : ${one})(&b);
% else:
            ${one}(&b);
% endif
        }
    }
}
