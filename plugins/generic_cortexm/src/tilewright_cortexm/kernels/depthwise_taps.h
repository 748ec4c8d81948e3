#pragma once
#include "depthwise.h"
#include "inside.h"
#include "prelude.h"
#include <stdint.h>

/* Where the taps of a window are that begins at (top, left) of x: bytes from its beginning, modulo the size of an
 * address. Those outside are at `outside`. */
TW_KERNEL void tw_taps_of(const tw_depthwise *p, uintptr_t base, uintptr_t outside, int32_t top, int32_t left,
        int32_t edge, uintptr_t *table)
{
    const tw_inside inside = tw_inside_of(left, p->columns, p->column_dilation, p->width);
    const int32_t before = edge ? ((inside.first - left) / p->column_dilation) : 0; /* taps left of x */
    const int32_t within = edge ? (before + inside.count) : p->columns;
    const uintptr_t step = (uintptr_t)(p->column_dilation * p->channels);
    for (int32_t i = 0; i < p->rows; ++i) {
        const int32_t row = top + (i * p->row_dilation);
        const int32_t last = (!edge || ((row >= 0) && (row < p->height))) ? within : before;
        uintptr_t at = (uintptr_t)(i * p->row_dilation * p->x_row) + ((uintptr_t)before * step);
        int32_t j = 0;
        for (; j < before; ++j) {
            *table++ = outside - base;
        }
        for (; j < last; ++j) {
            *table++ = at;
            at += step;
        }
        for (; j < p->columns; ++j) {
            *table++ = outside - base;
        }
    }
}
