#pragma once
#include "dsp.h"
#include <stdint.h>

/* Sums of four bytes, added to `sum`; of signed ones each byte counts 128 more. */
#ifdef TW_DSP_ARM
TW_KERNEL uint32_t tw_dsp_sum_bytes(uint32_t v, uint32_t sum)
{
    uint32_t r;
    __asm__("usada8 %0, %1, %2, %3" : "=r"(r) : "r"(v), "r"(0), "r"(sum));
    return r;
}
#else
TW_KERNEL uint32_t tw_dsp_sum_bytes(uint32_t v, uint32_t sum)
{
    return sum + (v & 255) + ((v >> 8) & 255) + ((v >> 16) & 255) + (v >> 24);
}
#endif

/* What a column's values make of lower nibbles that are 8 too large: -8 times their sum. `flip` is 0x80808080 where
 * bytes are signed, and were added up so that each counts 128 more; else 0. */
TW_KERNEL int32_t tw_dsp_nibble_offset(uint32_t sum, int32_t fours, uint32_t flip)
{
    return -8 * ((int32_t)sum - (flip ? (512 * fours) : 0));
}

/* The same of a column of bytes. */
TW_KERNEL int32_t tw_dsp_nibble_offset_bytes(const uint32_t *column, int32_t words, uint32_t flip)
{
    uint32_t sum = 0;
    int32_t i = 0;
    for (; (i + 4) <= words; i += 4) {
        sum = tw_dsp_sum_bytes(column[i] ^ flip, sum);
        sum = tw_dsp_sum_bytes(column[i + 1] ^ flip, sum);
        sum = tw_dsp_sum_bytes(column[i + 2] ^ flip, sum);
        sum = tw_dsp_sum_bytes(column[i + 3] ^ flip, sum);
    }
    for (; i < words; ++i) {
        sum = tw_dsp_sum_bytes(column[i] ^ flip, sum);
    }
    return tw_dsp_nibble_offset(sum, words, flip);
}

/* The sum of the upper channel of a pair, of what SMLAD made of bytes, and of the lower nibbles alone. */
TW_KERNEL int32_t tw_dsp_upper_nibble(int32_t both, int32_t lower)
{
    return (int32_t)((uint32_t)both - (uint32_t)lower) >> 4;
}
