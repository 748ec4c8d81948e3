#pragma once
#include <stdint.h>

/* One output pixel: its window's first tap, counted from the tile's first element, and which taps lie inside. */
typedef struct {
    int32_t x;
    uint32_t rows;
    uint32_t columns;
    float *y;
} tw_xp_float_pixel;

/* What a layer of floats has beside its windows; `w_tap` lies between taps of a row, `y_output` between outputs. */
typedef struct {
    int32_t w_output;
    int32_t w_tap;
    int32_t y_output;
    float low;
    float high;
} tw_xp_floats;
