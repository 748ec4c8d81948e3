#pragma once
#include "sum.h"
#include <stdint.h>

/* One output pixel: its window's first tap, which taps lie inside, one bit for each, and what is added to its results. */
typedef struct {
    int32_t x; /* bytes from the first element of the tile */
    uint32_t rows;
    uint32_t columns;
    uint8_t *y;
    const uint8_t *more;
} tw_xp_sum_pixel;

/* What is added to results, channels last, and how. */
typedef struct {
    const uint8_t *values;
    int32_t batch;
    int32_t row;
    int32_t column;
    tw_xp_sum sum;
} tw_xp_more;
