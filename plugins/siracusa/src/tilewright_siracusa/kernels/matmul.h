#pragma once
#include "xpulp.h"
#include <stdint.h>

typedef struct {
    /* of the tile */
    int32_t rows;
    int32_t columns;
    int32_t depth;
    /* bytes between neighbours */
    int32_t a_row;
    int32_t b_row;
    int32_t y_row;
    int32_t a_zero_point;
    int32_t b_zero_point;
    int32_t scale; /* the bits of a float32, or m and r of sums that are shifted, which move before */
    int32_t moved;
    tw_xp_limits to;
} tw_xp_matmul;
