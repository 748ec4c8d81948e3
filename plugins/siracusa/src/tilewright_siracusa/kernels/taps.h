#pragma once
#include <stdint.h>

/* Taps of a window, and the bytes between neighbours. */
typedef struct {
    int32_t rows, columns, row, column;
} tw_xp_taps;
