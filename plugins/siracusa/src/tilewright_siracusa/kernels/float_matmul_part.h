#pragma once
#include <stdint.h>

typedef struct {
    int32_t rows, columns, depth;
    int32_t a_row, b_row, c_row, y_row; /* elements between neighbours; b_row where every row has its own matrix */
    int32_t a_depth, b_depth, b_column, c_column, y_column;
    float low, high;
    int32_t acc_row, acc_column, first, last; /* whether this is the first part, the last part */
} tw_xp_f32_matmul_part;
