#include "arrived_rows.c"

/* Takes rows up to `end`, as many as are there. */
TW_KERNEL void tw_take_rows(tw_rows *rows, tw_arrival *arrival, tw_progress *progress, int32_t end, uint8_t *bytes,
                            int32_t blocks, int32_t capacity, int32_t row_bytes)
{
    tw_take_arrived(rows, arrival, end - rows->made, bytes, blocks, capacity, row_bytes);
    progress->waiting = (arrival->wanted > 0) ? TW_MORE : TW_OK;
}
