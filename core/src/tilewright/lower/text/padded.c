/* What a copy moves that takes multiples of `grain` bytes: what is more than `bytes` is padding. */
TW_KERNEL int32_t tw_padded(int32_t bytes, int32_t grain)
{
    return (bytes + grain - 1) / grain * grain;
}
