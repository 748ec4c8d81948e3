#pragma once
#include "mve.h"
#include "prelude.h"
#include <stdint.h>

typedef struct { /* a convolution over a channels-last tensor; a matrix product is one of 1x1 */
    /* of x; channels of one group, bytes between pixels, and rows */
    int32_t width;
    int32_t height;
    int32_t channels;
    int32_t x_step;
    int32_t x_row;
    /* pixels: of one image of y */
    int32_t out_width;
    int32_t pixels;
    int32_t outputs;
    int32_t y_step;
    int32_t y_row;
    /* kernel rows, runs of x in each, taps in a run */
    int32_t row_taps;
    int32_t column_runs;
    int32_t run_taps;
    int32_t row_stride;
    int32_t column_stride;
    int32_t row_dilation;
    int32_t column_dilation;
    int32_t top;
    int32_t left;
    int32_t pad; /* value outside, as it is stored in a column */
    /* of a column, and bytes that it takes */
    int32_t length;
    int32_t room;
    int32_t steps;
    int32_t zero_point;
} tw_mve_conv;

/* Everything that one pixel of y reads, in one run. */
TW_KERNEL void tw_mve_column(const tw_mve_conv *p, const uint8_t *x, int32_t pixel, int32_t flip, int8_t *to)
{
    const int32_t i = pixel / p->out_width;
    const int32_t top = (i * p->row_stride) - p->top;
    const int32_t left = ((pixel - (i * p->out_width)) * p->column_stride) - p->left;
    const int32_t step = p->row_dilation * p->x_row;
    /* of the taps' row: its number, and bytes from x */
    int32_t line = top - p->row_dilation;
    int32_t row = (top * p->x_row) - step;
    for (int32_t k = 0; k < p->row_taps; ++k) {
        line += p->row_dilation;
        row += step;
        if ((line < 0) || (line >= p->height)) {
            to = tw_mve_fill(to, p->pad, p->column_runs * p->run_taps * p->channels);
            continue;
        }
        for (int32_t r = 0; r < p->column_runs; ++r) {
            const int32_t column = left + (r * p->column_dilation);
            const int32_t room = p->width - column;
            const int32_t first = (column >= 0) ? 0 : ((-column < p->run_taps) ? -column : p->run_taps);
            const int32_t last = (room >= p->run_taps) ? p->run_taps : ((room > first) ? room : first);
            if (first > 0) {
                to = tw_mve_fill(to, p->pad, first * p->channels);
            }
            to = tw_mve_copy(to, x + row + ((column + first) * p->x_step), (last - first) * p->channels,
                flip);
            if (last < p->run_taps) {
                to = tw_mve_fill(to, p->pad, (p->run_taps - last) * p->channels);
            }
        }
    }
}
