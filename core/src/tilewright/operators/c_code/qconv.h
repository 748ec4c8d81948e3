#pragma once
#include "requant.h"
#include "window.h"
#include <stdint.h>

typedef struct {
    /* extents of the output tile */
    int32_t batches;
    int32_t outputs;
    /* channels of one group */
    int32_t group_inputs;
    int32_t group_outputs;
    int32_t first_output; /* channel of the tile's first output in the whole tensor */
    /* elements between neighbours */
    int32_t x_batch;
    int32_t x_channel;
    int32_t y_batch;
    int32_t y_channel;
    int32_t w_output;
    tw_axis depth;
    tw_axis row;
    tw_axis column;
    /* what a position outside counts for: pad_value - x_zero_point */
    int32_t x_zero_point;
    int32_t padding;
    /* whether the taps of a row are a single run of products; elements of x between them */
    int32_t joined;
    int32_t step;
    tw_requant requant;
} tw_qconv;
