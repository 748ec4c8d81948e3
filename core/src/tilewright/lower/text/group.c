/* Several steps tiled together. Positions first .. end - 1 of `size`, as far as there are any. */
TW_KERNEL tw_range tw_need(int32_t first, int32_t end, int32_t size)
{
    const int32_t high = tw_clamp(end, 0, size);
    const tw_range need = {tw_clamp(first, 0, high), high};
    return need;
}

TW_KERNEL int32_t tw_most(int32_t value, int32_t other)
{
    return (value > other) ? value : other;
}

/* What of `need` is not computed yet where everything below `done` is. */
TW_KERNEL tw_range tw_beyond(tw_range need, int32_t done)
{
    const tw_range rest = {(need.low > done) ? need.low : done, need.high};
    return rest;
}

/* In each block of `rows` rows, `kept` rows from number `from` on become the first ones. The cores share the blocks
 * where there are enough, the bytes of every row otherwise; rows only ever move down, so nobody overwrites what
 * another core still reads. */
TW_KERNEL void tw_keep(uint8_t *bytes, int32_t blocks, int32_t rows, int32_t row_bytes, int32_t from, int32_t kept)
{
    const tw_range all = {0, blocks};
    const tw_range row = {0, row_bytes};
    const int apart = blocks >= (int32_t)tw_rt_cores();
    const tw_range block = apart ? tw_share(all, 1) : all;
    const tw_range part = apart ? row : tw_share(row, 8);
    if ((from <= 0) || (part.low >= part.high)) {
        return;
    }
    for (int32_t i = block.low; i < block.high; ++i) {
        for (int32_t j = 0; j < kept; ++j) {
            uint8_t *const to = bytes + (((i * rows) + j) * row_bytes) + part.low;
            memcpy(to, to + (from * row_bytes), (size_t)(part.high - part.low));
        }
    }
}
