#include "row_ports.c"

/* Where rows end that are taken now: those of the call; while a call waits, as many as there is room for, from the first
 * one on, `low`, that is still read. So rows of several inputs may come in any order. */
TW_KERNEL int32_t tw_end_of_room(const tw_rows *rows, const tw_arrival *arrival, const tw_progress *progress, int32_t low,
                                 int32_t most, int32_t capacity, int32_t extent)
{
    const int32_t from = low < rows->made ? low : rows->made;
    const int32_t end = progress->waiting == 0 ? arrival->due + most : from + capacity;
    return end < extent ? end : extent;
}

/* Takes rows up to `end`, as many as are there, into `blocks` blocks of `capacity` rows. They may be there before the call
 * that they are due with. */
TW_KERNEL void tw_take_rows(tw_rows *rows, tw_arrival *arrival, tw_progress *progress, int32_t end, uint8_t *bytes,
                            int32_t blocks, int32_t capacity, int32_t row_bytes)
{
    const int32_t missing = end > rows->made ? end - rows->made : 0;
    const int32_t count = arrival->count < missing ? arrival->count : missing;
    uint8_t *const target = bytes + (rows->made - rows->first) * row_bytes;
    for (int32_t i = 0; i < blocks; ++i) {
        for (int32_t row = 0; row < count; ++row) {
            memcpy(target + (i * capacity + row) * row_bytes,
                   arrival->rows + i * arrival->block_stride + row * arrival->row_stride, (size_t)row_bytes);
        }
    }
    if (count > 0) {
        arrival->rows += count * arrival->row_stride;
    }
    arrival->count -= count;
    arrival->left -= (uint32_t)count;
    arrival->wanted = missing - count;
    rows->made = (uint16_t)(rows->made + count);
    if (progress->waiting == 0 && arrival->wanted > 0) {
        progress->waiting = TW_MORE;
    } else if (progress->waiting == 0) {
        arrival->due = end;
    }
}
