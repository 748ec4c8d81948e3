<%doc> Needs type, "i8" or "u8". </%doc>\
#include "windows.h"

/* The largest byte of each window, four channels at a time; the lowest value where all is padding. */
TW_KERNEL void tw_xp_max_pool_${type}(const tw_xp_windows p, const uint8_t *x, uint8_t *y)
{
    for (int32_t n = 0; n < p.batches; ++n) {
        for (int32_t i = 0; i < p.rows; ++i) {
            const int32_t top = (i * p.row_stride) - p.top;
            const uint32_t rows = tw_xp_inside(top, p.row_taps, p.row_dilation, p.in_rows);
            for (int32_t j = 0; j < p.columns; ++j) {
                const int32_t left = (j * p.column_stride) - p.left;
                const uint32_t columns = tw_xp_inside(left, p.column_taps, p.column_dilation, p.in_columns);
                const int32_t start = (n * p.x_batch) + (top * p.x_row) + (left * p.x_column);
                uint8_t *const to = y + (n * p.y_batch) + (i * p.y_row) + (j * p.y_column);
                for (int32_t c = 0; c < p.outputs; c += 4) {
                    const int32_t lanes = ((p.outputs - c) < 4) ? (p.outputs - c) : 4;
                    uint32_t most = UINT32_C(${"0x80808080" if type == "i8" else "0"});
                    for (int32_t kr = 0; kr < p.row_taps; ++kr) {
                        const int32_t row = start + c + (kr * p.row_dilation * p.x_row);
                        const uint32_t inside = ((rows >> kr) & 1) ? columns : 0;
                        for (int32_t kc = 0; kc < p.column_taps; ++kc) {
                            if ((inside >> kc) & 1) {
                                const uint8_t *const from = x + (row + (kc * p.column_dilation * p.x_column));
                                most = tw_xp_max_${type}(most, tw_xp_load_lanes(from, lanes));
                            }
                        }
                    }
                    tw_xp_store_lanes(to + c, most, lanes);
                }
            }
        }
    }
}
