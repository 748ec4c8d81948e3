#pragma once
#include "window.h"
#include <stdint.h>

/* What a pool is called with. */
typedef struct {
    /* extents of the output tile */
    int32_t batches;
    int32_t channels;
    /* elements between neighbours */
    int32_t x_batch;
    int32_t x_channel;
    int32_t y_batch;
    int32_t y_channel;
    tw_axis depth;
    tw_axis row;
    tw_axis column;
} tw_pool;
