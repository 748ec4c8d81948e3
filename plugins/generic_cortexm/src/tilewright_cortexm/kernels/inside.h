#pragma once
#include "prelude.h"
#include <stdint.h>

typedef struct {
    /* positions of one axis that lie inside: the first one's place in x, and how many */
    int32_t first;
    int32_t count;
} tw_inside;

/* Of `taps` positions, `dilation` apart and beginning at `start`, those below `end`. */
TW_KERNEL int32_t tw_taps_to(int32_t start, int32_t taps, int32_t dilation, int32_t end)
{
    const int32_t room = end - start;
    const int32_t below = (room <= 0) ? 0 : ((room + dilation - 1) / dilation);
    return (below < taps) ? below : taps;
}

TW_KERNEL tw_inside tw_inside_of(int32_t start, int32_t taps, int32_t dilation, int32_t extent)
{
    const int32_t before = tw_taps_to(start, taps, dilation, 0);
    const tw_inside inside = {
        .first = start + (before * dilation), .count = tw_taps_to(start, taps, dilation, extent) - before};
    return inside;
}
