<%doc> Needs function, stored, taps, blocks, runs (of each: first channel, count), value_bytes, multiplier (channels of the result for each of x). Channels of the geometry are in bytes. </%doc>\
<%!
def plus(distance, unit=""):
    """The way from the first output to the one that a block begins with; nothing for the first."""
    return f" + {distance}{unit}" if distance else ""
%>\
<% outputs = f"({multiplier} * p.channels)" if multiplier > 1 else "p.channels" %>\
#include "depthwise_taps.h"
#include "mve.h"
#include "mve_pixel.h"

/* scratch: two tables of taps, for pixels inside and at the edge, and one pixel of padding. */
TW_KERNEL void ${function}(const tw_depthwise p, const uint8_t *x, const int8_t *w, const int32_t *parameters,
        uint8_t *y, void *scratch, int32_t zero_point)
{
    uintptr_t *const tables = scratch;
    uintptr_t *const edge_table = tables + ${taps};
    int8_t *const outside = (int8_t *)(edge_table + ${taps});
% if value_bytes == 1:
    tw_mve_fill(outside, p.pad, p.channels);
% else:
    const int16_t pad = (int16_t)p.pad;
    for (int32_t c = 0; c < p.channels; c += 2) {
        memcpy(outside + c, &pad, sizeof pad);
    }
% endif
    tw_taps_of(&p, 0, 0, 0, 0, 0, tables);
    for (int32_t i = 0; i < p.out_height; ++i) {
        const int32_t top = (i * p.row_stride) - p.top;
        const int32_t rows_inside = (top >= 0) && ((top + ((p.rows - 1) * p.row_dilation)) < p.height);
        const uintptr_t from = (uintptr_t)x + (uintptr_t)(top * p.x_row);
        for (int32_t j = 0; j < p.out_width; ++j) {
            const int32_t left = (j * p.column_stride) - p.left;
            const int32_t inside = rows_inside && (left >= 0) && ((left + ((p.columns - 1) * p.column_dilation)) < p.width);
            tw_mve_pixel b = {.base = from + (uintptr_t)(left * p.channels),
                .table = inside ? tables : edge_table, .zero_point = zero_point};
            if (!inside) {
                tw_taps_of(&p, b.base, (uintptr_t)outside, top, left, 1, edge_table);
            }
% for shape, (first, count) in zip(blocks, runs):
% if first:
            b.base += ${value_bytes * first // multiplier};
% endif
            b.w = w${plus(first * taps)};
            b.parameters = parameters${plus((1 + stored) * first)};
            b.y = y${plus(value_bytes * first)};
            b.groups = ${count};
            ${shape["block"]}(&b);
% endfor
            y += ${outputs};
        }
        y += p.y_row - (p.out_width * ${outputs});
    }
}
