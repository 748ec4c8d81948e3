/* Columns that two stripes have, copied to where they wait for the next stripe, or back: `size` bytes in each of
 * `blocks` blocks of each row. */
TW_KERNEL void tw_pass_columns(uint8_t *to, const uint8_t *from, int32_t size, int32_t rows, int32_t to_row,
                               int32_t from_row, int32_t blocks, int32_t to_block, int32_t from_block)
{
    for (int32_t row = 0; row < rows; ++row) {
        for (int32_t block = 0; block < blocks; ++block) {
            memcpy(to + (row * to_row) + (block * to_block), from + (row * from_row) + (block * from_block), (size_t)size);
        }
    }
}
