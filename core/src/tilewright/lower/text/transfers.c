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
    if ((queue->started - queue->arrived) == TW_TRANSFERS) {
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
