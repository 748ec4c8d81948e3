/* Tiles: which trips of its loops a tile runs, which part of an operand that touches, and its transfers. */
typedef struct {
    int32_t low, high; /* trips low .. high - 1 */
} tw_range;

typedef struct {
    int32_t low, extent; /* positions of one axis */
    int32_t before, after; /* positions outside it, where padding is read */
} tw_span;

typedef struct { /* transfers between two memories that may still be on their way, in the order they were started */
    uint32_t started, arrived;
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
    const int32_t low = range.low + tile * size;
    const tw_range cut = {low, range.high - low < size ? range.high : low + size};
    return cut;
}

/* This core's part of a range, a multiple of `grain` except at the end. May be empty. */
TW_KERNEL tw_range tw_share(tw_range range, int32_t grain)
{
    const int32_t cores = (int32_t)tw_rt_cores(), core = (int32_t)tw_rt_core();
    const int32_t trips = (range.high - range.low + cores * grain - 1) / (cores * grain) * grain;
    const int32_t low = range.low + core * trips;
    const tw_range share = {low, core >= cores || low >= range.high ? low
                                 : range.high - low < trips ? range.high : low + trips};
    return share;
}

/* Positions first .. end - 1 of an axis; the second form for those that may lie outside its `size` positions. */
TW_KERNEL tw_span tw_span_inside(int32_t first, int32_t end)
{
    const tw_span span = {first, end - first, 0, 0};
    return span;
}

TW_KERNEL int32_t tw_clamp(int32_t value, int32_t low, int32_t high)
{
    return value < low ? low : (value > high ? high : value);
}

/* Positions of an extent when only every `step`-th counts. */
TW_KERNEL int32_t tw_steps(int32_t extent, int32_t step)
{
    return (extent + step - 1) / step;
}

TW_KERNEL int32_t tw_least(int32_t value, int32_t other)
{
    return value < other ? value : other;
}

TW_KERNEL tw_span tw_span_clipped(int32_t first, int32_t end, int32_t size)
{
    const int32_t low = tw_clamp(first, 0, size), high = tw_clamp(end, 0, size);
    const tw_span span = {low, high > low ? high - low : 0, first < 0 ? -first : 0, end > size ? end - size : 0};
    return span;
}

/* Division towards minus infinity, and the smallest and largest of low % by, (low + 1) % by, .., high % by. */
TW_KERNEL int32_t tw_floor_div(int32_t value, int32_t by)
{
    return value >= 0 ? value / by : -((by - 1 - value) / by);
}

TW_KERNEL int32_t tw_mod_low(int32_t low, int32_t high, int32_t by)
{
    const int32_t turns = tw_floor_div(low, by);
    return turns == tw_floor_div(high, by) ? low - turns * by : 0;
}

TW_KERNEL int32_t tw_mod_high(int32_t low, int32_t high, int32_t by)
{
    const int32_t turns = tw_floor_div(high, by);
    return turns == tw_floor_div(low, by) ? high - turns * by : by - 1;
}

/* Waits for the oldest transfer of a queue. */
TW_KERNEL void tw_oldest_arrives(tw_queue *queue)
{
    tw_rt_wait(queue->transfer[queue->arrived % TW_TRANSFERS]);
    ++queue->arrived;
}

/* Starts one more transfer of a window. Where TW_TRANSFERS are on their way, the oldest one must arrive first. */
TW_KERNEL void tw_transfer(tw_slot *slot, void *dst, const void *src, int32_t bytes, int32_t rows, int32_t dst_stride,
                           int32_t src_stride)
{
    tw_queue *const queue = slot->queue;
    if (queue->started - queue->arrived == TW_TRANSFERS) {
        tw_oldest_arrives(queue);
    }
    queue->transfer[queue->started % TW_TRANSFERS] =
        tw_rt_copy(dst, src, (uint32_t)bytes, (uint32_t)rows, (uint32_t)dst_stride, (uint32_t)src_stride);
    slot->after = ++queue->started;
}

/* Waits until everything that was started for the slot has arrived, and so whatever was started before. */
TW_KERNEL void tw_arrived(const tw_slot *slot)
{
    while (slot->after > slot->queue->arrived) {
        tw_oldest_arrives(slot->queue);
    }
}

/* Charges `cycles`, which a tile of `whole` points takes, for `part` points. */
TW_KERNEL void tw_charge(uint32_t cycles, int32_t part, int32_t whole)
{
    tw_rt_charge((uint32_t)((uint64_t)cycles * (uint32_t)part / (uint32_t)whole));
}
