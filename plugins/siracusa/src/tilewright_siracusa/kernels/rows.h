#pragma once
#include "windows.h"
#include "prelude.h"
#include <stdint.h>

typedef struct {
    /* taps first to last - 1 lie inside */
    int32_t first;
    int32_t last;
} tw_xp_rows;

TW_KERNEL tw_xp_rows tw_xp_rows_inside(const tw_xp_windows *p, int32_t top)
{
    const tw_xp_rows rows = {
        .first = tw_xp_taps_before(top, p->row_taps, p->row_dilation, 0),
        .last = tw_xp_taps_before(top, p->row_taps, p->row_dilation, p->in_rows),
    };
    return rows;
}

/* What an average is divided by: `scales` is 1, or one for every count of elements. With `padding`, positions before
 * `row_end` and `column_end` count. */
typedef struct {
    int32_t zero_point;
    int32_t scales;
    int32_t padding;
    int32_t row_end;
    int32_t column_end;
} tw_xp_counts;
