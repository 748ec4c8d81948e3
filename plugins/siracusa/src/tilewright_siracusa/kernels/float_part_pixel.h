#pragma once
#include <stdint.h>

/* One output pixel: its window's first tap, counted from the tile's first element, and which taps lie inside. */
typedef struct {
    int32_t x;
    uint32_t rows, columns;
    float *y;
    float *acc;
} tw_xp_part_float_pixel;

/* What a layer of floats has beside its windows; `w_tap` lies between taps of a row, `y_output` between outputs. */
typedef struct {
    int32_t w_output, w_tap, y_output;
    float low, high;
    int32_t first, last; /* whether this is the first part, the last part */
    int32_t acc_batch, acc_row, acc_column; /* elements between neighbours; outputs are */
} tw_xp_part_floats;
