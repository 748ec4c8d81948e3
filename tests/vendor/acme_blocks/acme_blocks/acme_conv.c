#include "acme_image.h"

TW_KERNEL void acme_lanes(const acme_image *at, const int8_t *x, const int16_t *w, int64_t *sums)
{
    for (int32_t k = 0; k < 16; ++k) {
        for (int32_t lane = 0; lane < 16; ++lane) {
            sums[lane] += ((x ? x[k] : at->border) - at->zero_point) * w[k * 16 + lane];
        }
    }
}

TW_KERNEL void acme_store(const acme_image *at, const int64_t *sums, const int64_t *form, int8_t *y)
{
    for (int32_t lane = 0; lane < 16; ++lane) {
        const int64_t *own = form + lane * 3;
        const int64_t product = sums[lane] * own[0] + own[1];
        const int64_t half = own[2] ? ((int64_t)1 << (own[2] - 1)) - 1 + ((product >> own[2]) & 1) : 0;
        const int64_t value = ((product + half) >> own[2]) + at->y_zero_point;
        y[lane] = (int8_t)(value < at->low ? at->low : value > at->high ? at->high : value);
    }
}

TW_KERNEL void acme_point(
    const acme_image *at, const int8_t *x, const int16_t *w, int32_t i, int32_t j, int64_t *sums)
{
    for (int32_t c = 0; c < at->inputs; ++c) {
        for (int32_t p = 0; p < at->row_taps; ++p) {
            for (int32_t q = 0; q < at->column_taps; ++q) {
                const int8_t *in = acme_under(at, x + c * at->x_group, i, j, p, q);
                const int32_t tap = (c * at->row_taps + p) * at->column_taps + q;
                acme_lanes(at, in, w + tap * 256, sums);
            }
        }
    }
}

TW_KERNEL void acme_conv(acme_image at, const int8_t *x, const int16_t *w, const int64_t *form, int8_t *y)
{
    const int32_t block = at.inputs * at.row_taps * at.column_taps * 256;
    for (int32_t n = 0; n < at.batches; ++n) {
        for (int32_t o = 0; o < at.outputs; ++o) {
            for (int32_t i = 0; i < at.rows; ++i) {
                for (int32_t j = 0; j < at.columns; ++j) {
                    int64_t sums[16] = {0};
                    acme_point(&at, x + n * at.x_batch, w + o * block, i, j, sums);
                    acme_store(&at, sums, form + o * 48,
                               y + n * at.y_batch + o * at.y_group + i * at.y_row + j * at.y_column);
                }
            }
        }
    }
}
