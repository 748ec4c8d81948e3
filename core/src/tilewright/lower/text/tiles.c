typedef struct { /* transfers between two memories that may still be on their way, in the order they were started */
    uint32_t started;
    uint32_t arrived;
    uint32_t transfer[TW_TRANSFERS];
} tw_queue;

typedef struct { /* a tile buffer, and how many of the queue's transfers must have arrived before it is touched */
    uint8_t *bytes;
    tw_queue *queue;
    uint32_t after;
} tw_slot;

/* How many tiles of `size` trips there are in a range, and tile number `tile` of them. */
TW_KERNEL int32_t tw_tiles(tw_range range, int32_t size)
{
    return (range.high - range.low + size - 1) / size;
}

TW_KERNEL tw_range tw_tile(tw_range range, int32_t tile, int32_t size)
{
    const int32_t low = range.low + (tile * size);
    const tw_range cut = {low, ((range.high - low) < size) ? range.high : (low + size)};
    return cut;
}

/* This core's part of a range, a multiple of `grain` except at the end. May be empty. */
TW_KERNEL tw_range tw_share(tw_range range, int32_t grain)
{
    const int32_t cores = (int32_t)tw_rt_cores();
    const int32_t core = (int32_t)tw_rt_core();
    const int32_t trips = (range.high - range.low + (cores * grain) - 1) / (cores * grain) * grain;
    const int32_t low = range.low + (core * trips);
    const tw_range share = {low, ((core >= cores) || (low >= range.high)) ? low
                                 : ((range.high - low) < trips) ? range.high : (low + trips)};
    return share;
}
