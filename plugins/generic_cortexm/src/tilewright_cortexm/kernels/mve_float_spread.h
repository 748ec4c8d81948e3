#pragma once
#include "float_block.h"

typedef struct { /* as tw_float_block, of floats of any size, and with runs of taps that are apart */
    const void *x; /* of the first pixel; distances are in bytes */
    int32_t x_step;
    const void *w; /* of four outputs in turn */
    int32_t w_block;
    const float *bias;
    void *y;
    int32_t y_step;
    int32_t outputs;
    int32_t runs;
    int32_t fours; /* values of a tap by four, and what is left */
    int32_t rest;
    int32_t x_jump; /* from the end of a run to the next one */
    int32_t w_jump;
    float low;
    float high;
    int32_t taps; /* of a run */
    int32_t x_tap; /* from the end of a tap to the next one */
} tw_float_spread;

typedef struct { /* a convolution over a channels-last tensor; channels and outputs are those of one group */
    int32_t width;
    int32_t height;
    int32_t channels;
    int32_t groups;
    /* bytes between rows of x */
    int32_t x_row;
    int32_t out_width;
    int32_t out_height;
    int32_t outputs;
    /* bytes between rows of y */
    int32_t y_row;
    /* of the kernel */
    int32_t rows;
    int32_t columns;
    int32_t row_stride;
    int32_t column_stride;
    int32_t row_dilation;
    int32_t column_dilation;
    int32_t top;
    int32_t left;
    float low;
    float high;
} tw_float_spread_conv;
