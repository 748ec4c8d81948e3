#pragma once
#include <stdint.h>

/* Taps of a window, and the bytes between neighbours. */
typedef struct {
    int32_t rows;
    int32_t columns;
    int32_t row;
    int32_t column;
} tw_xp_taps;
