#pragma once
#include "prelude.h"
#include <stdint.h>

/* Sliding windows over a tile: which taps of a window lie inside it. */
typedef struct { /* one spatial axis; positions count from the tile's first element */
    int32_t outputs; /* windows in this tile */
    int32_t inputs; /* elements in this tile: everything before 0 and from here on is padding */
    int32_t taps;
    int32_t stride;
    int32_t dilation;
    int32_t before; /* padding before the tile's first element, up to the first window's start */
    int32_t counted; /* AveragePool with count_include_pad: positions below this one count */
    /* elements between neighbours */
    int32_t x_step;
    int32_t y_step;
    int32_t w_step;
} tw_axis;

typedef struct {
    int32_t start; /* position of tap 0 */
    /* taps first .. last - 1 lie inside */
    int32_t first;
    int32_t last;
} tw_taps;

/* Taps of a window at `start` that lie below position `end`. */
TW_KERNEL int32_t tw_taps_below(const tw_axis *axis, int32_t start, int32_t end)
{
    const int32_t room = end - start;
    const int32_t taps = (room <= 0) ? 0 : ((axis->dilation == 1) ? room : (((room - 1) / axis->dilation) + 1));
    return (taps < axis->taps) ? taps : axis->taps;
}

TW_KERNEL tw_taps tw_taps_inside(const tw_axis *axis, int32_t output)
{
    const int32_t start = (output * axis->stride) - axis->before;
    const tw_taps taps = {
        .start = start,
        .first = tw_taps_below(axis, start, 0),
        .last = tw_taps_below(axis, start, axis->inputs),
    };
    return taps;
}
