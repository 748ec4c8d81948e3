#pragma once
#include "qlogsoftmax.h"
#include <stdint.h>

typedef struct {
    /* elements of one row, and from one to the next */
    int32_t count, x_step, y_step;
    /* steps of the result over 2^shift: of one of x, of a logarithm of 2, and what rounds */
    int64_t factor, of_two, addend;
    int32_t shift, low, high;
} tw_qlogsoftmax_wide;

/* The exponential of one element that lies so far below the row's largest, in 31 bits: a product of two. */
TW_KERNEL uint64_t tw_qlogsoftmax_entry(int32_t below, const uint32_t *t)
{
    return (((uint64_t)t[below / 256] * t[256 + (below % 256)]) + (UINT64_C(1) << 30)) >> 31;
}
