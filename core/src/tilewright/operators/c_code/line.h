#pragma once
#include "prelude.h"
#include <stdint.h>

/* Every output between its two neighbours along each axis. */
/* One spatial axis; output i of the whole tensor lies at (slope * i + offset) / divisor of the input. */
typedef struct {
    /* of this tile */
    int32_t outputs;
    int32_t first;
    int32_t slope;
    int32_t offset;
    int32_t divisor;
    int32_t last; /* of the whole input */
    int32_t origin; /* of the input tile */
    /* elements between neighbours */
    int32_t x_step;
    int32_t y_step;
} tw_line;

typedef struct {
    /* extents of the output tile */
    int32_t batches;
    int32_t channels;
    /* elements between neighbours */
    int32_t x_batch;
    int32_t x_channel;
    int32_t y_batch;
    int32_t y_channel;
    tw_line row;
    tw_line column;
} tw_resize_linear;

typedef struct {
    /* neighbours, as elements after the tile's first */
    int32_t before;
    int32_t after;
    int32_t share; /* weight of the one after, of `divisor` */
} tw_neighbours;

TW_KERNEL tw_neighbours tw_line_at(const tw_line *line, int32_t output)
{
    const int32_t position = (line->slope * (line->first + output)) + line->offset;
    const int32_t rest = position % line->divisor;
    const int32_t below = (position / line->divisor) - ((rest < 0) ? 1 : 0);
    const int32_t low = (below < 0) ? 0 : ((below > line->last) ? line->last : below);
    const int32_t high = ((below + 1) < 0) ? 0 : (((below + 1) > line->last) ? line->last : (below + 1));
    const tw_neighbours between = {
        .before = (low - line->origin) * line->x_step,
        .after = (high - line->origin) * line->x_step,
        .share = (rest < 0) ? (rest + line->divisor) : rest,
    };
    return between;
}
