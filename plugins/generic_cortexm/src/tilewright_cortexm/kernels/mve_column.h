#pragma once
#include "mve.h"
#include "prelude.h"
#include <stdint.h>

typedef struct { /* a convolution over a channels-last tensor; a matrix product is one of 1x1 */
    int32_t width, height, channels, x_step, x_row; /* of x; channels of one group, bytes between pixels, and rows */
    int32_t out_width, pixels, outputs, y_step, y_row; /* pixels: of one image of y */
    int32_t row_taps, column_runs, run_taps; /* kernel rows, runs of x in each, taps in a run */
    int32_t row_stride, column_stride, row_dilation, column_dilation, top, left;
    int32_t pad; /* value outside, as it is stored in a column */
    int32_t length, room; /* of a column, and bytes that it takes */
    int32_t steps, zero_point;
} tw_mve_conv;

/* Everything that one pixel of y reads, in one run. */
TW_KERNEL void tw_mve_column(const tw_mve_conv *p, const uint8_t *x, int32_t pixel, int32_t flip, int8_t *to)
{
    const int32_t i = pixel / p->out_width;
    const int32_t top = i * p->row_stride - p->top;
    const int32_t left = (pixel - i * p->out_width) * p->column_stride - p->left;
    const int32_t step = p->row_dilation * p->x_row;
    int32_t line = top, row = top * p->x_row; /* of the taps' row: its number, and bytes from x */
    for (int32_t k = 0; k < p->row_taps; ++k, line += p->row_dilation, row += step) {
        if (line < 0 || line >= p->height) {
            to = tw_mve_fill(to, p->pad, p->column_runs * p->run_taps * p->channels);
            continue;
        }
        for (int32_t r = 0; r < p->column_runs; ++r) {
            const int32_t column = left + r * p->column_dilation, room = p->width - column;
            const int32_t first = column >= 0 ? 0 : (-column < p->run_taps ? -column : p->run_taps);
            const int32_t last = room >= p->run_taps ? p->run_taps : (room > first ? room : first);
            if (first > 0) {
                to = tw_mve_fill(to, p->pad, first * p->channels);
            }
            to = tw_mve_copy(to, x + row + (column + first) * p->x_step, (last - first) * p->channels,
                flip);
            if (last < p->run_taps) {
                to = tw_mve_fill(to, p->pad, (p->run_taps - last) * p->channels);
            }
        }
    }
}
