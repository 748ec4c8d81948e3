#pragma once
#include <stdint.h>

/* One output pixel: its window's first tap, and which taps lie inside, one bit for each. */
typedef struct {
    int32_t x; /* bytes from the first element of the tile */
    uint32_t rows;
    uint32_t columns;
    uint8_t *y;
    int32_t *acc;
} tw_xp_part_pixel;
