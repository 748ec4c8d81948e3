#pragma once
#include "float_block.h"

typedef struct { /* a convolution over a channels-last tensor; a matrix product is one of 1x1 */
    /* of x, and bytes between its pixels and rows */
    int32_t width;
    int32_t height;
    int32_t channels;
    int32_t x_row;
    /* of y */
    int32_t out_width;
    int32_t out_height;
    int32_t outputs;
    int32_t y_row;
    /* kernel rows and columns */
    int32_t rows;
    int32_t columns;
    int32_t row_stride;
    int32_t column_stride;
    int32_t row_dilation;
    int32_t top;
    int32_t left;
    float low;
    float high;
} tw_float_conv;

/* What blocks compute, in C. */
TW_KERNEL void tw_float_products(tw_float_block *b, int32_t pixels)
{
    for (int32_t o = 0; o < b->outputs; ++o) {
        for (int32_t p = 0; p < pixels; ++p) {
            const float *x = tw_float_at(b->x, p * b->x_step);
            const float *w = tw_float_at(b->w, (o / 4) * b->w_block) + (o % 4);
            float sum = b->bias[o];
            for (int32_t run = 0; run < b->runs; ++run) {
                for (int32_t k = 0; k < ((4 * b->fours) + b->rest); ++k) {
                    sum += *x * *w;
                    ++x;
                    w += 4;
                }
                x = tw_float_at(x, b->x_jump);
                w = tw_float_at(w, b->w_jump);
            }
            b->y[(p * (b->y_step / 4)) + o] = tw_float_clip(sum, b->low, b->high);
        }
    }
}
