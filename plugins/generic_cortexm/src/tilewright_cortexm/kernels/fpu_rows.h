#pragma once
#include "fpu_block.h"

typedef struct { /* a part of a row times a matrix: `count` values from `start` on, of `length` */
    int32_t start;
    int32_t count;
    int32_t length;
    int32_t outputs;
    float low;
    float high;
} tw_fpu_row;

/* Outputs in fours, of which the last one may be no whole one: `given` are their sums before. */
TW_KERNEL void tw_fpu_row_of_fours(void (*block)(const tw_fpu_block *), const tw_fpu_row p, const float *x,
                                   const float *w, const float *given, float *y)
{
    const int32_t whole = p.outputs - (p.outputs % 4);
    tw_fpu_block b = {
        .x = x,
        .w = w + (4 * p.start),
        .w_block = 16 * p.length,
        .bias = given,
        .outputs = whole,
        .y = y,
        .fours = p.count / 4,
        .rest = p.count % 4,
        .rows = 1,
        .taps = 1,
        .low = p.low,
        .high = p.high,
    };
    if (whole > 0) {
        block(&b);
    }
    if (whole < p.outputs) {
        float last[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        for (int32_t o = whole; o < p.outputs; ++o) {
            last[o - whole] = given[o];
        }
        b.w += whole * p.length;
        b.bias = last;
        b.outputs = 4;
        b.y = last;
        block(&b);
        for (int32_t o = whole; o < p.outputs; ++o) {
            y[o] = last[o - whole];
        }
    }
}
