<%doc> Needs function, stored (the C type of an element), four and one (names of blocks). </%doc>\
#include "inside.h"
#include "mve_float_spread.h"

/* Pixels of a row four at a time where all of their windows are inside, else one by one with the taps that are. */
TW_KERNEL void ${function}(const tw_float_spread_conv p, const ${stored} *x, const ${stored} *w,
        const float *bias, ${stored} *y)
{
    const int32_t size = (int32_t)sizeof *x;
    const int32_t pixel = p.channels * p.groups;
    const int32_t padded = (p.outputs + 3) & ~3;
    const int32_t tap = 4 * p.channels;
    const int32_t first = ((p.left + p.column_stride) - 1) / p.column_stride;
    const int32_t room = (p.width + p.left) - (((p.columns - 1) * p.column_dilation) + 1);
    const int32_t end = (room < 0) ? 0 : ((room / p.column_stride) + 1);
    for (int32_t i = 0; i < p.out_height; ++i) {
        const int32_t line = (i * p.row_stride) - p.top;
        const tw_inside down = tw_inside_of(line, p.rows, p.row_dilation, p.height);
        int32_t count = 0;
        for (int32_t j = 0; j < p.out_width; j += count) {
            const int32_t start = (j * p.column_stride) - p.left;
            const tw_inside across = tw_inside_of(start, p.columns, p.column_dilation, p.width);
            const int32_t inside = ((down.count > 0) && (across.count > 0)) ? across.count : 0;
            const int32_t above = (down.first - line) / p.row_dilation;
            const int32_t before = (across.first - start) / p.column_dilation;
            count = ((j >= first) && ((j + 4) <= end) && ((j + 4) <= p.out_width)) ? 4 : 1;
            for (int32_t g = 0; g < p.groups; ++g) {
                const ${stored} *const group = w + (g * padded * p.rows * p.columns * p.channels);
                tw_float_spread s = {
                    .x = (inside > 0) ? (x + (down.first * (p.x_row / size)) + (across.first * pixel) + (g * p.channels)) : x,
                    .x_step = p.column_stride * pixel * size,
                    .w = (inside > 0) ? (group + (((above * p.columns) + before) * tap)) : group,
                    .w_block = tap * p.rows * p.columns * size,
                    .bias = bias + (g * padded),
                    .y = y + ((i * (p.y_row / size)) + (((j * p.groups) + g) * p.outputs)),
                    .y_step = p.groups * p.outputs * size,
                    .outputs = p.outputs,
                    .runs = (inside > 0) ? down.count : 1,
                    .fours = (inside > 0) ? (p.channels / 4) : 0,
                    .rest = (inside > 0) ? (p.channels % 4) : 0,
                    .x_jump = (p.row_dilation * p.x_row) - (inside * p.column_dilation * pixel * size),
                    .w_jump = (p.columns - inside) * tap * size,
                    .low = p.low,
                    .high = p.high,
                    .taps = (inside > 0) ? inside : 1,
                    .x_tap = ((p.column_dilation * pixel) - p.channels) * size,
                };
                ((count == 4) ? ${four} : ${one})(&s);
            }
        }
    }
}
