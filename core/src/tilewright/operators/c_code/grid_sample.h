#pragma once
#include "prelude.h"
#include <math.h>
#include <stdint.h>

/* An image and a grid of positions in it. */
typedef struct { /* one spatial axis */
    /* elements of the image, samples of the tile */
    int32_t size;
    int32_t outputs;
    int32_t part; /* where in a coordinate this axis is; below 0: nowhere */
    /* elements between neighbours */
    int32_t x_step;
    int32_t g_step;
    int32_t y_step;
} tw_grid_axis;

typedef struct {
    /* extents of the output tile */
    int32_t batches;
    int32_t channels;
    /* elements between neighbours */
    int32_t x_batch;
    int32_t x_channel;
    int32_t g_batch;
    int32_t y_batch;
    int32_t y_channel;
    tw_grid_axis depth;
    tw_grid_axis row;
    tw_grid_axis column;
} tw_grid_sample;

typedef struct { /* what is read along one axis for one sample */
    int32_t offset[4]; /* elements; below 0: nothing */
    float weight[4];
} tw_grid_taps;

/* A position outside thrown back at the ends, as often as it takes. */
TW_KERNEL float tw_grid_reflected(float position, float low, float high)
{
    const float span = high - low;
    if (!(span > 0.0f)) {
        return low;
    }
    const float beyond = (position < low) ? (low - position) : (position - high);
    const int32_t times = (int32_t)(beyond / span);
    const float rest = beyond - ((float)times * span);
    return ((position < low) == ((times % 2) == 0)) ? (low + rest) : (high - rest);
}
