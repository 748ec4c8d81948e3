#pragma once
#include <stdint.h>

typedef struct {
    int32_t rows;
    int32_t depth;
    int32_t columns;
    /* b_zero: of B's bytes as signed ones, which they are after xor with b_flip */
    int32_t a_zero;
    int32_t b_zero;
    int32_t b_flip;
    /* bytes between neighbours */
    int32_t a_row;
    int32_t a_step;
    int32_t b_step;
    int32_t b_column;
    int32_t y_row;
    int32_t y_step;
} tw_arm_matmul;
