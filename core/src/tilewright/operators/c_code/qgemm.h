#pragma once
#include "requant.h"
#include <stdint.h>

typedef struct {
    int32_t rows, columns, depth;
    int32_t a_row, b_row, y_row; /* elements between neighbours; b_row where every row has its own matrix */
    int32_t a_depth, b_depth, b_column, y_column;
    int32_t a_zero_point;
    int32_t own; /* 1 where every column has a word (and a zero point) of its own, 0 where all share them */
    tw_requant requant;
} tw_qgemm;
