#pragma once
#include "window.h"
#include <stdint.h>

/* What a pool is called with. */
typedef struct {
    int32_t batches, channels; /* extents of the output tile */
    int32_t x_batch, x_channel, y_batch, y_channel; /* elements between neighbours */
    tw_axis depth, row, column;
} tw_pool;
