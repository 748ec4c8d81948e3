<%doc> Needs function, widen ("i8" or "u8"). </%doc>\
#include "dsp.h"
#include "pool_windows.h"

/* The largest value of every window, four channels at a time, the last ones again where they do not come out even. */
TW_KERNEL void ${function}(const tw_windows p, const uint8_t *x, uint8_t *y)
{
    for (int32_t i = 0; i < p.out_height; ++i) {
        const tw_inside rows = tw_inside_of((i * p.row_stride) - p.top, p.rows, p.row_dilation, p.height);
        for (int32_t j = 0; j < p.out_width; ++j) {
            const tw_inside columns = tw_inside_of((j * p.column_stride) - p.left, p.columns, p.column_dilation, p.width);
            const uint8_t *const from = x + (rows.first * p.x_row) + (columns.first * p.channels);
            for (int32_t group = 0; group < p.channels; group += 4) {
                const int32_t c = ((group + 4) <= p.channels) ? group : (p.channels - 4);
                const uint8_t *at = from + c;
                uint32_t largest = ${"UINT32_C(0x80808080)" if widen == "i8" else 0};
                for (int32_t r = 0; r < rows.count; ++r) {
                    const uint8_t *tap = at;
                    for (int32_t k = columns.count; k > 0; --k) {
                        largest = tw_dsp_max_${widen}(tw_dsp_load(tap), largest);
                        tap += p.column_dilation * p.channels;
                    }
                    at += p.row_dilation * p.x_row;
                }
                memcpy(y + c, &largest, sizeof largest);
            }
            y += p.channels;
        }
        y += p.y_row - (p.out_width * p.channels);
    }
}
