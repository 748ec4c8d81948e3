/* What is told of rows as they are made: nothing, unless the application defines it. */
#ifdef TW_ROWS_HEADER
#  include TW_ROWS_HEADER
#endif
#ifndef TW_ROWS
#  define TW_ROWS(step, rows, bytes, blocks, capacity, row_bytes, stripe) ((void)0)
#endif

/* Steps that are computed row by row: how many rows of its loop each has made, and the first that is still there. */
typedef struct {
    uint16_t made;
    uint16_t first;
} tw_rows;

TW_KERNEL void tw_begin_rows(tw_rows *rows, int32_t steps)
{
    for (int32_t i = 0; i < steps; ++i) {
        rows[i].made = rows[i].first = 0;
    }
}

/* The rows of the next call. */
TW_KERNEL tw_range tw_next_rows(const tw_rows *rows, int32_t most, int32_t extent)
{
    const int32_t low = rows->made;
    const tw_range next = {low, ((extent - low) < most) ? extent : (low + most)};
    return next;
}

/* The same of a step that goes from its last row to its first. */
TW_KERNEL tw_range tw_rows_before(const tw_rows *rows, int32_t most, int32_t extent)
{
    const int32_t high = extent - rows->made;
    const tw_range next = {(high < most) ? 0 : (high - most), high};
    return next;
}

/* Where there is no room for the rows up to `end`, those before `low`, which nobody reads any more, make it: in each of
 * `blocks` blocks of `capacity` rows, what stays is moved to the beginning. */
TW_KERNEL void tw_make_room(tw_rows *rows, int32_t end, int32_t low, uint8_t *bytes, int32_t blocks, int32_t capacity,
                            int32_t row_bytes)
{
    const int32_t first = rows->first;
    const int32_t made = rows->made;
    const int32_t from = (low < made) ? low : made;
    if ((end - first) > capacity) {
        for (int32_t i = 0; i < blocks; ++i) {
            uint8_t *const block = bytes + (i * capacity * row_bytes);
            memmove(block, block + ((from - first) * row_bytes), (size_t)((made - from) * row_bytes));
        }
        rows->first = (uint16_t)from;
    }
}

TW_KERNEL void tw_made(tw_rows *rows, int32_t made)
{
    rows->made = (uint16_t)made;
}
