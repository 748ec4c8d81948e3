#pragma once
#include "prelude.h"
#include <stdint.h>

typedef struct {
    /* elements of one row, and from one to the next */
    int32_t count;
    int32_t x_step;
    int32_t y_step;
    int32_t entries; /* of the table: differences from here on count for nothing */
    uint32_t scale; /* y_scale * 2^31 */
    int32_t zero_point;
    int32_t low;
    int32_t high;
} tw_qsoftmax;

/* The exponential of one element: t[d] where d is how far it lies below the row's largest. */
TW_KERNEL uint32_t tw_qsoftmax_entry(int32_t below, int32_t entries, const uint32_t *t)
{
    return (below < entries) ? t[below] : 0;
}
