#include "row_ports.c"

/* Gives rows up to `end`, as many as there is room for, from `blocks` blocks of `capacity` rows, of which `first` is the
 * first one. */
TW_KERNEL void tw_give_rows(tw_rows *rows, tw_departure *departure, tw_progress *progress, int32_t end,
                            const uint8_t *bytes, int32_t first, int32_t blocks, int32_t capacity, int32_t row_bytes)
{
    const int32_t ready = end - rows->made;
    const int32_t count = (departure->count < ready) ? departure->count : ready;
    const uint8_t *const source = bytes + ((rows->made - first) * row_bytes);
    for (int32_t i = 0; i < blocks; ++i) {
        for (int32_t row = 0; row < count; ++row) {
            memcpy(departure->rows + (i * departure->block_stride) + (row * departure->row_stride),
                   source + (((i * capacity) + row) * row_bytes), (size_t)row_bytes);
        }
    }
    if (count > 0) {
        departure->rows += count * departure->row_stride;
    }
    departure->count -= count;
    departure->left -= (uint32_t)count;
    departure->ready = ready - count;
    rows->made = (uint16_t)(rows->made + count);
    progress->waiting = (departure->ready > 0) ? TW_READY : TW_OK;
}
