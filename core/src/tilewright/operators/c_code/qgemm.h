#pragma once
#include "requant.h"
#include <stdint.h>

typedef struct {
    int32_t rows;
    int32_t columns;
    int32_t depth;
    /* elements between neighbours; b_row where every row has its own matrix */
    int32_t a_row;
    int32_t b_row;
    int32_t y_row;
    int32_t a_depth;
    int32_t b_depth;
    int32_t b_column;
    int32_t y_column;
    int32_t a_zero_point;
    int32_t own; /* 1 where every column has a word (and a zero point) of its own, 0 where all share them */
    tw_requant requant;
} tw_qgemm;
