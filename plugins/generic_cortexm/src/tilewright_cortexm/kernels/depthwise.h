#pragma once
#include <stdint.h>

typedef struct { /* windows over a channels-last image, each channel on its own */
    int32_t width, height, channels, x_row; /* of x; bytes between rows */
    int32_t out_width, out_height, y_row;
    int32_t rows, columns; /* of the kernel */
    int32_t row_stride, column_stride, row_dilation, column_dilation, top, left;
    int32_t pad; /* value outside, as a byte */
} tw_depthwise;
