#pragma once
#include <stdint.h>

typedef struct {
    int32_t rows, columns, depth;
    int32_t a_row, b_row, c_row, y_row; /* elements between neighbours; b_row where every row has its own matrix */
    int32_t a_depth, b_depth, b_column, c_column, y_column;
    float low, high;
} tw_xp_f32_matmul;
