#pragma once
#include <stdint.h>

/* Where the elements of a tile are in the whole tensor, and where their places are written. */
typedef struct {
    int32_t first_batch, first_channel, all_channels, image; /* of the tile; channels and elements of a whole image */
    int32_t batch, channel; /* places between neighbours */
    int32_t depth_origin, row_origin, column_origin; /* of the tile's first element */
    int32_t depth_counted, row_counted, column_counted; /* what one position counts */
    int32_t depth_step, row_step, column_step; /* places between neighbours */
} tw_places;
