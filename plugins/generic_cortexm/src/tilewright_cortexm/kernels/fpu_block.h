#pragma once
#include "float_block.h"

/* What a block of the scalar unit is given, and leaves alone. Distances are in bytes. A row of taps is one run of
 * values, or, where taps are apart, as many as there are `taps`. */
typedef struct {
    const float *x; /* of the first pixel */
    int32_t x_step; /* between pixels */
    const float *w; /* of four outputs in turn */
    int32_t w_block; /* from four outputs to the next */
    const float *bias;
    int32_t outputs;
    float *y;
    int32_t y_step;
    int32_t fours; /* values of a run by four, and what is left */
    int32_t rest;
    int32_t x_jump; /* from the end of a row of taps to the next one */
    int32_t w_jump;
    int32_t rows;
    int32_t taps;
    int32_t x_tap; /* from the end of a run to the next one of its row */
    /* the fused activation */
    float low;
    float high;
} tw_fpu_block;

/* What blocks compute, in C. */
TW_KERNEL void tw_fpu_block_in_c(const tw_fpu_block *b, int32_t pixels)
{
    const int32_t values = (4 * b->fours) + b->rest;
    for (int32_t o = 0; o < b->outputs; ++o) {
        for (int32_t p = 0; p < pixels; ++p) {
            const float *x = tw_float_at(b->x, p * b->x_step);
            const float *w = tw_float_at(b->w, (o / 4) * b->w_block) + (o % 4);
            float sum = b->bias[o];
            for (int32_t run = 0; run < (b->rows * b->taps); ++run) {
                for (int32_t k = 0; k < values; ++k) {
                    sum += x[k] * *w;
                    w += 4;
                }
                const int32_t last = ((run + 1) % b->taps) == 0;
                x = tw_float_at(x + values, b->x_tap + (last ? b->x_jump : 0));
                w = tw_float_at(w, last ? b->w_jump : 0);
            }
            b->y[(p * (b->y_step / 4)) + o] = tw_float_clip(sum, b->low, b->high);
        }
    }
}
