#pragma once
#include "fpu_block.h"
#include <math.h>

typedef struct {
    int32_t steps;
    int32_t batches;
    int32_t hidden;
    int32_t reverse;
} tw_fpu_recurrent;

/* Products of a state with the weights of `outputs` sums, which have room for whole fours. What comes from the input is
 * not added here: it may be so large that small products would vanish in it one by one. */
TW_KERNEL void tw_fpu_state_products(void (*block)(const tw_fpu_block *), const float *w, const float *h,
                                     int32_t hidden, int32_t outputs, float *sums)
{
    const tw_fpu_block b = {
        .x = h,
        .w = w,
        .w_block = 16 * hidden,
        .bias = sums,
        .outputs = outputs,
        .y = sums,
        .fours = hidden / 4,
        .rest = hidden % 4,
        .rows = 1,
        .taps = 1,
        .low = -INFINITY,
        .high = INFINITY,
    };
    for (int32_t o = 0; o < ((outputs + 3) & ~3); ++o) {
        sums[o] = 0.0f;
    }
    block(&b);
}
