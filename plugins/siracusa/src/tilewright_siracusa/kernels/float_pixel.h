#pragma once
#include <stdint.h>

/* One output pixel: its window's first tap, counted from the tile's first element, and which taps lie inside. */
typedef struct {
    int32_t x;
    uint32_t rows, columns;
    float *y;
} tw_xp_float_pixel;

/* What a layer of floats has beside its windows; `w_tap` lies between taps of a row, `y_output` between outputs. */
typedef struct {
    int32_t w_output, w_tap, y_output;
    float low, high;
} tw_xp_floats;
