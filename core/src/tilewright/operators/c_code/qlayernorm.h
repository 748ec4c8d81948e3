#pragma once
#include "prelude.h"
#include <stdint.h>

typedef struct {
    /* a row is `blocks` of `count` elements; from one to the next of x, of factors, of addends, of y */
    int32_t blocks, count;
    int32_t x_block, x_step, f_block, f_step, a_block, a_step, y_block, y_step;
    int32_t centred, x_zero_point;
    uint64_t epsilon;
    int32_t epsilon_bits, bits, shift, low, high;
} tw_qlayernorm;

/* What brings an element of a row to its distance from the mean over the deviation. */
typedef struct {
    int32_t sum, scale, inverse;
} tw_qlayernorm_row;

/* The upper half of a product below 2^62. Adding 2^62 keeps it positive, where >> is defined. */
TW_KERNEL int32_t tw_qlayernorm_high(int32_t one, int32_t other)
{
    const uint64_t above = (uint64_t)((int64_t)one * other) + (UINT64_C(1) << 62);
    return (int32_t)(above >> 32) - (INT32_C(1) << 30);
}

/* The root of a number from 2^60 to 2^62, rounded down. */
TW_KERNEL uint32_t tw_qlayernorm_root(uint64_t square)
{
    uint32_t root = 0;
    for (uint32_t bit = UINT32_C(1) << 30; bit != 0; bit >>= 1) {
        const uint32_t next = root | bit;
        root = (((uint64_t)next * next) <= square) ? next : root;
    }
    return root;
}

/* From the sum and the sum of squares of a row of n elements. */
TW_KERNEL tw_qlayernorm_row tw_qlayernorm_row_of(int64_t n, int32_t sum, int64_t squares, const tw_qlayernorm *p)
{
    const int64_t mean = p->centred ? sum : 0;
    const uint64_t variance = (uint64_t)((n * squares) - (mean * mean));
    tw_qlayernorm_row row = {.sum = (int32_t)mean, .scale = 0, .inverse = 0};
    if (variance > 0) {
        uint64_t square = (variance << p->epsilon_bits) + p->epsilon;
        int32_t up = p->bits + (p->epsilon_bits / 2) - 29;
        while (square < (UINT64_C(1) << 60)) {
            square <<= 2;
            up += 1;
        }
        const uint64_t inverse = (UINT64_C(1) << 61) / tw_qlayernorm_root(square);
        row.scale = (int32_t)1 << ((up > 0) ? up : 0);
        row.inverse = (int32_t)((inverse - (inverse >> 31)) >> ((up < 0) ? -up : 0));
    }
    return row;
}

/* One element, `apart` being n times its distance from the mean. */
TW_KERNEL int32_t tw_qlayernorm_element(int32_t apart, tw_qlayernorm_row row, int32_t factor, int32_t addend,
                                        const tw_qlayernorm *p)
{
    const int32_t even = tw_qlayernorm_high(apart * row.scale, row.inverse);
    const int32_t scaled = tw_qlayernorm_high(even, factor) + addend;
    const int32_t q = (scaled < 0) ? ~(~scaled >> p->shift) : (scaled >> p->shift);
    return (q < p->low) ? p->low : ((q > p->high) ? p->high : q);
}
