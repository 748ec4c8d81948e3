#include "row_ports.c"

/* Takes as many rows as are there, and are missing, into `blocks` blocks of `capacity` rows. */
TW_KERNEL void tw_take_arrived(tw_rows *rows, tw_arrival *arrival, int32_t missing, uint8_t *bytes, int32_t blocks,
                               int32_t capacity, int32_t row_bytes)
{
    const int32_t count = (arrival->count < missing) ? arrival->count : missing;
    uint8_t *const target = bytes + ((rows->made - rows->first) * row_bytes);
    for (int32_t i = 0; i < blocks; ++i) {
        for (int32_t row = 0; row < count; ++row) {
            memcpy(target + (((i * capacity) + row) * row_bytes),
                   arrival->rows + (i * arrival->block_stride) + (row * arrival->row_stride), (size_t)row_bytes);
        }
    }
    if (count > 0) {
        arrival->rows += count * arrival->row_stride;
    }
    arrival->count -= count;
    arrival->left -= (uint32_t)count;
    arrival->wanted = missing - count;
    rows->made = (uint16_t)(rows->made + count);
}
