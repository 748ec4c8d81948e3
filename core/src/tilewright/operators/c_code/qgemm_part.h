#pragma once
#include "requant.h"
#include <stdint.h>

typedef struct {
    int32_t rows, columns, depth;
    int32_t a_row, b_row, y_row, acc_row; /* elements between neighbours; b_row where every row has its own matrix */
    int32_t a_depth, b_depth, b_column, y_column, acc_column;
    int32_t a_zero_point;
    int32_t own; /* 1 where every column has a word (and a zero point) of its own, 0 where all share them */
    int32_t first, last; /* whether this is the first part of the depth, the last part */
    tw_requant requant;
} tw_qgemm_part;
