#pragma once
#include "requant.h"
#include "window.h"
#include <stdint.h>

typedef struct {
    int32_t batches, outputs; /* extents of the output tile */
    int32_t group_inputs, group_outputs; /* channels of one group */
    int32_t first_output; /* channel of the tile's first output in the whole tensor */
    int32_t x_batch, x_channel, y_batch, y_channel, w_output; /* elements between neighbours */
    tw_axis depth, row, column;
    int32_t x_zero_point, padding; /* what a position outside counts for: pad_value - x_zero_point */
    int32_t joined, step; /* whether the taps of a row are a single run of products; elements of x between them */
    tw_requant requant;
} tw_qconv;
