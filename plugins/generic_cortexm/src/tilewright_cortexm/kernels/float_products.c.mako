<%doc> Needs function, four and one (names of blocks). </%doc>\
#include "float_products.h"

/* Pixels of a row four at a time where all of their windows are inside, else one by one with the taps that are. */
TW_KERNEL void ${function}(const tw_float_conv p, const float *x, const float *w, const float *bias, float *y)
{
    const int32_t step = 4 * p.channels;
    const int32_t first = ((p.left + p.column_stride) - 1) / p.column_stride;
    const int32_t room = (p.width + p.left) - p.columns;
    const int32_t end = (room < 0) ? 0 : ((room / p.column_stride) + 1);
    for (int32_t i = 0; i < p.out_height; ++i) {
        const int32_t line = (i * p.row_stride) - p.top;
        const int32_t above = (line < 0) ? ((p.row_dilation - 1 - line) / p.row_dilation) : 0;
        const int32_t fit = (p.height > line) ? (((p.height - line) + p.row_dilation - 1) / p.row_dilation) : 0;
        const int32_t below = (fit < p.rows) ? fit : p.rows;
        int32_t count = 0;
        for (int32_t j = 0; j < p.out_width; j += count) {
            const int32_t start = (j * p.column_stride) - p.left;
            const int32_t before = (start < 0) ? -start : 0;
            const int32_t right = p.width - start;
            const int32_t after = (right < p.columns) ? right : p.columns;
            const int32_t inside = ((below > above) && (after > before)) ? (after - before) : 0;
            const int32_t values = inside * p.channels;
            count = ((j >= first) && ((j + 4) <= end) && ((j + 4) <= p.out_width)) ? 4 : 1;
            tw_float_block b = {
                .x = (inside > 0) ? tw_float_at(x,
                    ((line + (above * p.row_dilation)) * p.x_row) + ((start + before) * step)) : x,
                .x_step = p.column_stride * step,
                .w = (inside > 0) ? (w + (((above * p.columns) + before) * step)) : w,
                .w_block = 4 * step * p.rows * p.columns,
                .bias = bias,
                .y = y + (((i * p.y_row) + (4 * j * p.outputs)) / 4),
                .y_step = 4 * p.outputs,
                .outputs = p.outputs,
                .runs = (inside > 0) ? (below - above) : 1,
                .fours = values / 4,
                .rest = values % 4,
                .x_jump = (p.row_dilation * p.x_row) - (4 * values),
                .w_jump = 4 * ((p.columns - inside) * step),
                .low = p.low,
                .high = p.high,
            };
            ((count == 4) ? ${four} : ${one})(&b);
        }
    }
}
