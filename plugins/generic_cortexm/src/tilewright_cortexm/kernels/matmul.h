#pragma once
#include <stdint.h>

typedef struct {
    int32_t rows, depth, columns;
    int32_t a_zero, b_zero, b_flip; /* b_zero: of B's bytes as signed ones, which they are after xor with b_flip */
    int32_t a_row, a_step, b_step, b_column, y_row, y_step; /* bytes between neighbours */
} tw_arm_matmul;
