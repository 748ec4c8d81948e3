#pragma once
#include "float_block.h"

typedef struct { /* runs of taps that are apart: `fours` and `rest` are values of one tap, jumps from run to run */
    tw_float_block b;
    int32_t taps; /* of a run */
    int32_t x_tap; /* bytes from the end of a tap to the next one */
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

/* The sum of one output, from x and w on. */
TW_KERNEL float tw_float_spread_sum(const tw_float_spread *s, const float *x, const float *w, float bias)
{
    float sum = bias;
    for (int32_t run = 0; run < s->b.runs; ++run) {
        for (int32_t tap = 0; tap < s->taps; ++tap) {
            for (int32_t k = 0; k < ((4 * s->b.fours) + s->b.rest); ++k) {
                sum += *x * *w;
                ++x;
                w += 4;
            }
            x = tw_float_at(x, s->x_tap);
        }
        x = tw_float_at(x, s->b.x_jump);
        w = tw_float_at(w, s->b.w_jump);
    }
    return sum;
}

/* What blocks compute, in C. */
TW_KERNEL void tw_float_spread_products(const tw_float_spread *s, int32_t pixels)
{
    const tw_float_block *const b = &s->b;
    for (int32_t o = 0; o < b->outputs; ++o) {
        const float *const w = tw_float_at(b->w, (o / 4) * b->w_block) + (o % 4);
        for (int32_t p = 0; p < pixels; ++p) {
            const float sum = tw_float_spread_sum(s, tw_float_at(b->x, p * b->x_step), w, b->bias[o]);
            b->y[(p * (b->y_step / 4)) + o] = tw_float_clip(sum, b->low, b->high);
        }
    }
}
