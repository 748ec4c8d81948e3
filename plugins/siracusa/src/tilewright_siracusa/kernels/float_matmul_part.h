#pragma once
#include <stdint.h>

typedef struct {
    int32_t rows;
    int32_t columns;
    int32_t depth;
    /* elements between neighbours; b_row where every row has its own matrix */
    int32_t a_row;
    int32_t b_row;
    int32_t c_row;
    int32_t y_row;
    int32_t a_depth;
    int32_t b_depth;
    int32_t b_column;
    int32_t c_column;
    int32_t y_column;
    float low;
    float high;
    /* whether this is the first part, the last part */
    int32_t acc_row;
    int32_t acc_column;
    int32_t first;
    int32_t last;
} tw_xp_f32_matmul_part;
