#pragma once
#include "float_depthwise.h"
#include "fpu_block.h"

typedef struct { /* a convolution over a channels-last tensor, or one of its groups; a product is one of 1x1 */
    /* of x: `channels` of each pixel are read; bytes between its pixels and rows */
    int32_t width;
    int32_t height;
    int32_t channels;
    int32_t x_step;
    int32_t x_row;
    /* of y */
    int32_t out_width;
    int32_t out_height;
    int32_t outputs;
    int32_t y_step;
    int32_t y_row;
    /* kernel rows and columns */
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
} tw_fpu_conv;
