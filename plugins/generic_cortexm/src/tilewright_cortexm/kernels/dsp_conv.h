#pragma once
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
    int32_t pad; /* value outside, in every byte */
    int32_t groups; /* fours of values in a run, rounded up */
    int32_t above;
    int32_t zero_point;
} tw_dsp_conv;
