<%doc> Windows over a channels-last image. </%doc>\
#ifndef TW_WINDOWS
#define TW_WINDOWS
typedef struct {
    int32_t width, height, channels; /* of x */
    int32_t out_width, out_height;
    int32_t rows, columns; /* of a window */
    int32_t row_stride, column_stride, row_dilation, column_dilation, top, left;
} tw_windows;
#endif
