#pragma once
#include "xpulp.h"
#include "prelude.h"
#include <stdint.h>

/* What a layer of sliding windows is called with, and which taps of a window lie inside the input tile. */
typedef struct {
    /* extents of the output tile */
    int32_t batches;
    int32_t rows;
    int32_t columns;
    int32_t outputs;
    /* of the input tile; what lies outside is padding */
    int32_t in_rows;
    int32_t in_columns;
    int32_t row_taps;
    int32_t column_taps;
    int32_t row_stride;
    int32_t column_stride;
    int32_t row_dilation;
    int32_t column_dilation;
    /* padding before the input tile */
    int32_t top;
    int32_t left;
    int32_t channels; /* bytes of one tap */
    int32_t joined; /* whether the taps of a row are neighbours */
    /* bytes between neighbours */
    int32_t x_batch;
    int32_t x_row;
    int32_t x_column;
    int32_t y_batch;
    int32_t y_row;
    int32_t y_column;
    int32_t column; /* bytes of one window, a multiple of four */
    uint32_t padding; /* what a position outside holds, as often as a word has room for it */
    tw_xp_limits to;
} tw_xp_windows;

/* How many taps lie before position `end`. */
TW_KERNEL int32_t tw_xp_taps_before(int32_t start, int32_t taps, int32_t dilation, int32_t end)
{
    const int32_t room = end - start;
    const int32_t count = (room <= 0) ? 0 : ((dilation == 1) ? room : (((room - 1) / dilation) + 1));
    return (count < taps) ? count : taps;
}

/* How many taps lie at positions 0 to extent - 1. */
TW_KERNEL int32_t tw_xp_taps_inside(int32_t start, int32_t taps, int32_t dilation, int32_t extent)
{
    return tw_xp_taps_before(start, taps, dilation, extent) - tw_xp_taps_before(start, taps, dilation, 0);
}

/* The same taps, one bit for each. */
TW_KERNEL uint32_t tw_xp_inside(int32_t start, int32_t taps, int32_t dilation, int32_t extent)
{
    const uint32_t all = (UINT32_C(2) << (taps - 1)) - 1;
    if ((start >= 0) && ((start + ((taps - 1) * dilation)) < extent)) {
        return all;
    }
    const int32_t first = tw_xp_taps_before(start, taps, dilation, 0);
    const int32_t last = tw_xp_taps_before(start, taps, dilation, extent);
    return (last == 0) ? 0 : (((UINT32_C(2) << (last - 1)) - 1) & ~((UINT32_C(1) << (first & 31)) - 1));
}
