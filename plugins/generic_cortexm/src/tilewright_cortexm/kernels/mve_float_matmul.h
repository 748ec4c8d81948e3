#pragma once
#include "float_block.h"

typedef struct { /* rows of A, with columns of B four at a time; distances are in bytes */
    const float *a;
    int32_t a_row;
    const float *b;
    int32_t blocks; /* of four columns */
    float *y;
    int32_t y_row;
    int32_t fours; /* values of a row by four, and what is left */
    int32_t rest;
    /* the fused activation */
    float low;
    float high;
} tw_float_columns;

/* What blocks compute, in C; `step` bytes from one row of B to the next. */
TW_KERNEL void tw_float_columns_of(const tw_float_columns *p, int32_t rows, int32_t step)
{
    for (int32_t i = 0; i < rows; ++i) {
        for (int32_t j = 0; j < (4 * p->blocks); ++j) {
            const float *a = tw_float_at(p->a, i * p->a_row);
            const float *b = p->b + j;
            float sum = 0.0f;
            for (int32_t k = 0; k < ((4 * p->fours) + p->rest); ++k) {
                sum += *a * *b;
                ++a;
                b = tw_float_at(b, step);
            }
            p->y[(i * (p->y_row / 4)) + j] = tw_float_clip(sum, p->low, p->high);
        }
    }
}
