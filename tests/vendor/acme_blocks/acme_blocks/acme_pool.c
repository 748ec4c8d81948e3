#include "acme_image.h"

TW_KERNEL void acme_largest(const int8_t *x, int8_t *y)
{
    for (int32_t lane = 0; lane < 16; ++lane) {
        y[lane] = x[lane] > y[lane] ? x[lane] : y[lane];
    }
}

TW_KERNEL void acme_window(const acme_image *at, const int8_t *x, int32_t i, int32_t j, int8_t *y)
{
    for (int32_t lane = 0; lane < 16; ++lane) {
        y[lane] = -128;
    }
    for (int32_t p = 0; p < at->row_taps; ++p) {
        for (int32_t q = 0; q < at->column_taps; ++q) {
            const int8_t *in = acme_under(at, x, i, j, p, q);
            if (in) {
                acme_largest(in, y);
            }
        }
    }
}

TW_KERNEL void acme_pool(acme_image at, const int8_t *x, int8_t *y)
{
    for (int32_t n = 0; n < at.batches; ++n) {
        for (int32_t o = 0; o < at.outputs; ++o) {
            for (int32_t i = 0; i < at.rows; ++i) {
                for (int32_t j = 0; j < at.columns; ++j) {
                    acme_window(&at, x + n * at.x_batch + o * at.x_group, i, j,
                                y + n * at.y_batch + o * at.y_group + i * at.y_row + j * at.y_column);
                }
            }
        }
    }
}
