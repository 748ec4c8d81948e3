#pragma once
#include "xpulp.h"
#include <stdint.h>

typedef struct {
    int32_t rows, columns, depth; /* of the tile */
    int32_t a_row, b_row, y_row; /* bytes between neighbours */
    int32_t a_zero_point, b_zero_point;
    int32_t scale; /* the bits of a float32 */
    tw_xp_limits to;
    int32_t acc_row, first, last; /* words between neighbours; whether this is the first part, the last part */
} tw_xp_matmul_part;
