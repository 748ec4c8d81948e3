/* The same of planes of rows. */
TW_KERNEL void tw_transfer_3d(tw_slot *slot, void *dst, const void *src, int32_t bytes, int32_t rows, int32_t planes,
                              int32_t dst_stride, int32_t src_stride, int32_t dst_plane, int32_t src_plane)
{
    tw_queue *const queue = slot->queue;
    if ((queue->started - queue->arrived) == TW_TRANSFERS) {
        tw_oldest_arrives(queue);
    }
    queue->transfer[queue->started % TW_TRANSFERS] =
        tw_rt_copy_3d(dst, src, (uint32_t)bytes, (uint32_t)rows, (uint32_t)planes, (uint32_t)dst_stride,
                      (uint32_t)src_stride, (uint32_t)dst_plane, (uint32_t)src_plane);
    slot->after = ++queue->started;
}
