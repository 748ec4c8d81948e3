#include "arrived_rows.c"

/* Where rows end that are taken now: those of the call; while a call waits, as many as there is room for, from the first
 * one on, `low`, that is still read. So rows of several inputs may come in any order. */
TW_KERNEL int32_t tw_end_of_room(const tw_rows *rows, const tw_arrival *arrival, const tw_progress *progress, int32_t low,
                                 int32_t most, int32_t capacity, int32_t extent)
{
    const int32_t from = (low < rows->made) ? low : rows->made;
    const int32_t end = (progress->waiting == 0) ? (arrival->due + most) : (from + capacity);
    return (end < extent) ? end : extent;
}

/* Takes rows up to `end`, as many as are there. They may be there before the call that they are due with. */
TW_KERNEL void tw_take_rows(tw_rows *rows, tw_arrival *arrival, tw_progress *progress, int32_t end, uint8_t *bytes,
                            int32_t blocks, int32_t capacity, int32_t row_bytes)
{
    tw_take_arrived(rows, arrival, (end > rows->made) ? (end - rows->made) : 0, bytes, blocks, capacity, row_bytes);
    if ((progress->waiting == 0) && (arrival->wanted > 0)) {
        progress->waiting = TW_MORE;
    } else if (progress->waiting == 0) {
        arrival->due = end;
    }
}
