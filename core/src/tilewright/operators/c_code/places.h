#pragma once
#include <stdint.h>

/* Where the elements of a tile are in the whole tensor, and where their places are written. */
typedef struct {
    /* of the tile; channels and elements of a whole image */
    int32_t first_batch;
    int32_t first_channel;
    int32_t all_channels;
    int32_t image;
    /* places between neighbours */
    int32_t batch;
    int32_t channel;
    /* of the tile's first element */
    int32_t depth_origin;
    int32_t row_origin;
    int32_t column_origin;
    /* what one position counts */
    int32_t depth_counted;
    int32_t row_counted;
    int32_t column_counted;
    /* places between neighbours */
    int32_t depth_step;
    int32_t row_step;
    int32_t column_step;
} tw_places;
