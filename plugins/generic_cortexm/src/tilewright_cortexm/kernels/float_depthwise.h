#pragma once
#include "float_block.h"

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
    float low;
    float high;
} tw_float_depthwise;

typedef struct { /* taps of an axis that are inside: the first one, and the end of them */
    int32_t first;
    int32_t end;
} tw_float_inside;

TW_KERNEL tw_float_inside tw_float_taps_inside(int32_t start, int32_t taps, int32_t dilation, int32_t extent)
{
    const int32_t room = (extent > start) ? (((extent - start) + dilation - 1) / dilation) : 0;
    const int32_t end = (room < taps) ? room : taps;
    const int32_t before = (start < 0) ? (((dilation - 1) - start) / dilation) : 0;
    const tw_float_inside inside = {.first = (before < end) ? before : end, .end = end};
    return inside;
}

/* What blocks compute, in C. */
TW_KERNEL void tw_float_taps(tw_float_block *b)
{
    for (int32_t c = 0; c < b->outputs; ++c) {
        const float *x = b->x + c;
        const float *w = tw_float_at(b->w, (c / 4) * b->w_block) + (c % 4);
        float sum = b->bias[c];
        for (int32_t run = 0; run < b->runs; ++run) {
            for (int32_t k = 0; k < b->fours; ++k) {
                sum += *x * *w;
                x = tw_float_at(x, b->x_step);
                w += 4;
            }
            x = tw_float_at(x, b->x_jump);
            w = tw_float_at(w, b->w_jump);
        }
        b->y[c] = tw_float_clip(sum, b->low, b->high);
    }
}
