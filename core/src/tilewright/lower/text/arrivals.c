/* An input that arrives in rows. The call that comes next is at `order[arrival->at + 2 + arrival->call]`; 0 where there
 * is none, or where rows of the input are missing for the one that was begun, which then is the next again. */
TW_KERNEL int tw_next_call(tw_arrival *arrival, const uint8_t *order, int32_t length)
{
    if (arrival->waiting) {
        arrival->waiting = arrival->count == 0;
        return !arrival->waiting;
    }
    if (!arrival->entered) {
        arrival->entered = 1;
    } else if (++arrival->call == order[arrival->at + 1]) {
        arrival->call = 0;
        if (++arrival->turn == order[arrival->at]) {
            arrival->turn = 0;
            arrival->at += order[arrival->at + 1] + 2;
        }
    }
    return arrival->at < length;
}

/* Where the call ends that is next, or was begun. */
TW_KERNEL int32_t tw_end_of_call(const tw_rows *rows, int32_t most, int32_t extent)
{
    const int32_t end = (rows->made / most + 1) * most;
    return end < extent ? end : extent;
}

/* Takes rows up to `end`, as many as are there, into `blocks` blocks of `capacity` rows. */
TW_KERNEL void tw_take_rows(tw_rows *rows, tw_arrival *arrival, int32_t end, uint8_t *bytes, int32_t blocks,
                            int32_t capacity, int32_t row_bytes)
{
    const int32_t missing = end - rows->made, count = arrival->count < missing ? arrival->count : missing;
    uint8_t *const target = bytes + (rows->made - rows->first) * row_bytes;
    for (int32_t i = 0; i < blocks; ++i) {
        for (int32_t row = 0; row < count; ++row) {
            memcpy(target + (i * capacity + row) * row_bytes,
                   arrival->rows + i * arrival->block_stride + row * arrival->row_stride, (size_t)row_bytes);
        }
    }
    arrival->rows += count * arrival->row_stride;
    arrival->count -= count;
    rows->made = (uint16_t)(rows->made + count);
    arrival->waiting = rows->made < end;
}
