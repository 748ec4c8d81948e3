<%doc>
Needs function, widen ("i8" or "u8", of x), requantise, words, padding, long_windows.
</%doc>\
#include "dsp.h"
#include "pool_windows.h"

/* Sums of 16 bits of four channels, added to those of 32. */
TW_KERNEL void ${function}_flush(uint32_t even, uint32_t odd, int32_t *sums)
{
% for at, source in enumerate(("even", "odd", "even >> 16", "odd >> 16")):
    sums[${at}] += ${f"(int16_t)({source})" if widen == "i8" else f"(int32_t)(({source}) & 65535)"};
% endfor
}

/* The mean of every window, four channels at a time, the last ones again where they do not come out even. A sum of
 * 16 bits holds 255 values. */
TW_KERNEL void ${function}(const tw_windows p, const uint8_t *x, uint8_t *y, const int32_t *r, int32_t x_zero_point,
        int32_t above, int32_t zero_point, int32_t counted_rows, int32_t counted_columns)
{
    for (int32_t i = 0; i < p.out_height; ++i) {
        const int32_t top = (i * p.row_stride) - p.top;
        const tw_inside rows = tw_inside_of(top, p.rows, p.row_dilation, p.height);
        for (int32_t j = 0; j < p.out_width; ++j) {
            const int32_t left = (j * p.column_stride) - p.left;
            const tw_inside columns = tw_inside_of(left, p.columns, p.column_dilation, p.width);
            const uint8_t *const from = x + (rows.first * p.x_row) + (columns.first * p.channels);
            const int32_t inside = rows.count * columns.count;
% if words > 1:
% if padding:
            const int32_t counted = tw_taps_to(top, p.rows, p.row_dilation, counted_rows)
                * tw_taps_to(left, p.columns, p.column_dilation, counted_columns);
% else:
            const int32_t counted = inside;
% endif
            const int32_t word = r[(counted < 1) ? 0 : (counted - 1)];
% else:
            const int32_t word = r[0];
% endif
            for (int32_t group = 0; group < p.channels; group += 4) {
                const int32_t c = ((group + 4) <= p.channels) ? group : (p.channels - 4);
                const uint8_t *at = from + c;
                int32_t sums[4] = {-inside * x_zero_point, -inside * x_zero_point, -inside * x_zero_point,
                    -inside * x_zero_point};
% if not long_windows:
                uint32_t even = 0;
                uint32_t odd = 0;
                for (int32_t t = 0; t < rows.count; ++t) {
                    const uint8_t *tap = at;
                    for (int32_t k = columns.count; k > 0; --k) {
                        const uint32_t v = tw_dsp_load(tap);
                        even = tw_dsp_add_even_${widen}(even, v);
                        odd = tw_dsp_add_odd_${widen}(odd, v);
                        tap += p.column_dilation * p.channels;
                    }
                    at += p.row_dilation * p.x_row;
                }
                ${function}_flush(even, odd, sums);
% else:
                for (int32_t t = 0; t < rows.count; ++t) {
                    const uint8_t *tap = at;
                    for (int32_t k = columns.count; k > 0;) {
                        uint32_t even = 0;
                        uint32_t odd = 0;
                        const int32_t rest = (k > 255) ? (k - 255) : 0;
                        for (; k > rest; --k) {
                            const uint32_t v = tw_dsp_load(tap);
                            even = tw_dsp_add_even_${widen}(even, v);
                            odd = tw_dsp_add_odd_${widen}(odd, v);
                            tap += p.column_dilation * p.channels;
                        }
                        ${function}_flush(even, odd, sums);
                    }
                    at += p.row_dilation * p.x_row;
                }
% endif
                for (int32_t k = 0; k < 4; ++k) {
                    y[c + k] = ${requantise}(sums[k], word, above, zero_point);
                }
            }
            y += p.channels;
        }
        y += p.y_row - (p.out_width * p.channels);
    }
    (void)counted_rows;
    (void)counted_columns;
}
