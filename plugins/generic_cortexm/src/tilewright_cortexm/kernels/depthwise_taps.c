#ifndef TW_DEPTHWISE_TAPS
#define TW_DEPTHWISE_TAPS
/* Where the taps of a window are that begins at (top, left) of x: bytes from its beginning, modulo the size of an
 * address. Those outside are at `outside`. */
TW_KERNEL void tw_taps_of(const tw_depthwise *p, uintptr_t base, uintptr_t outside, int32_t top, int32_t left,
        int32_t edge, uintptr_t *table)
{
    for (int32_t i = 0; i < p->rows; ++i) {
        const int32_t row = top + i * p->row_dilation;
        for (int32_t j = 0; j < p->columns; ++j) {
            const int32_t column = left + j * p->column_dilation;
            const int32_t inside = row >= 0 && row < p->height && column >= 0 && column < p->width;
            *table++ = !edge || inside
                ? (uintptr_t)((i * p->row_dilation * p->width + j * p->column_dilation) * p->channels) : outside - base;
        }
    }
}
#endif
