#pragma once
#include <stdint.h>

typedef struct { /* a convolution over a channels-last tensor; a matrix product is one of 1x1 */
    int32_t width, height, channels, x_step, x_row; /* of x; channels of one group, bytes between pixels, and rows */
    int32_t out_width, pixels, outputs, y_step, y_row; /* pixels: of one image of y */
    int32_t row_taps, column_runs, run_taps; /* kernel rows, runs of x in each, taps in a run */
    int32_t row_stride, column_stride, row_dilation, column_dilation, top, left;
    int32_t pad; /* value outside, in every byte */
    int32_t groups; /* fours of values in a run, rounded up */
    int32_t above, zero_point;
} tw_dsp_conv;
