#pragma once
#include <stdint.h>

typedef struct { /* windows over a channels-last image, each channel on its own */
    /* of x; bytes between rows */
    int32_t width;
    int32_t height;
    int32_t channels;
    int32_t x_row;
    int32_t out_width;
    int32_t out_height;
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
    int32_t pad; /* value outside, as a byte */
} tw_depthwise;
