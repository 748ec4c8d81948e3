<%doc> Needs function, taps, outputs (C: channels of the result). </%doc>\
#include "depthwise_taps.h"
#include "dsp_pixel.h"

/* scratch: two tables of taps, for pixels inside and at the edge, and one pixel of padding. */
TW_KERNEL void ${function}(const tw_depthwise p, const uint8_t *x, const uint32_t *w, const int32_t *parameters,
        uint8_t *y, void *scratch, int32_t above, int32_t zero_point,
        tw_dsp_pixel *pixel)
{
    uintptr_t *const tables = scratch;
    uintptr_t *const edge_table = tables + ${taps};
    uint8_t *const outside = (uint8_t *)(edge_table + ${taps});
    memset(outside, p.pad, (size_t)p.channels);
    tw_taps_of(&p, 0, 0, 0, 0, 0, tables);
    for (int32_t i = 0; i < p.out_height; ++i) {
        const int32_t top = (i * p.row_stride) - p.top;
        const int32_t rows_inside = (top >= 0) && ((top + ((p.rows - 1) * p.row_dilation)) < p.height);
        for (int32_t j = 0; j < p.out_width; ++j) {
            const int32_t left = (j * p.column_stride) - p.left;
            const int32_t inside = rows_inside && (left >= 0) && ((left + ((p.columns - 1) * p.column_dilation)) < p.width);
            const uintptr_t base = (uintptr_t)x + (uintptr_t)((top * p.x_row) + (left * p.channels));
            if (!inside) {
                tw_taps_of(&p, base, (uintptr_t)outside, top, left, 1, edge_table);
            }
            pixel(base, inside ? tables : edge_table, w, parameters, y, ${outputs}, above, zero_point);
            y += ${outputs};
        }
        y += p.y_row - (p.out_width * ${outputs});
    }
}
