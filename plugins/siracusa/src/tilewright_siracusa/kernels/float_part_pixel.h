#pragma once
#include <stdint.h>

/* One output pixel: its window's first tap, counted from the tile's first element, and which taps lie inside. */
typedef struct {
    int32_t x;
    uint32_t rows;
    uint32_t columns;
    float *y;
    float *acc;
} tw_xp_part_float_pixel;

/* What a layer of floats has beside its windows; `w_tap` lies between taps of a row, `y_output` between outputs. */
typedef struct {
    int32_t w_output;
    int32_t w_tap;
    int32_t y_output;
    float low;
    float high;
    /* whether this is the first part, the last part */
    int32_t first;
    int32_t last;
    /* elements between neighbours; outputs are */
    int32_t acc_batch;
    int32_t acc_row;
    int32_t acc_column;
} tw_xp_part_floats;
