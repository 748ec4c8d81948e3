#pragma once
#include "xpulp.h"
#include "prelude.h"
#include <stdint.h>

/* One in each half: dot products with it are sums. */
#define TW_XP_ONES_H UINT32_C(0x00010001)
#ifdef TW_XP_ASM
/* pv.sdotsp.h: two products of signed halves, added to rd; pv.sra.sci.h: both halves moved down by a byte. */
#  define TW_XP_SDOTSP_H(rd, rs1, rs2) ".insn r 0x57, 0, 0x5c, " #rd ", " #rs1 ", " #rs2 "\n\t"
#  define TW_XP_SRA_H(rd, rs1) ".insn r 0x57, 6, 0x24, " #rd ", " #rs1 ", x4\n\t"

TW_KERNEL int32_t tw_xp_sdot_hh(int32_t sum, uint32_t a, uint32_t b)
{
    __asm__(TW_XP_SDOTSP_H(%[sum], %[a], %[b]) : [sum] "+r"(sum) : [a] "r"(a), [b] "r"(b));
    return sum;
}

/* The upper byte of each half, signed, as a half. */
TW_KERNEL uint32_t tw_xp_upper_bytes(uint32_t halves)
{
    uint32_t upper;
    __asm__(TW_XP_SRA_H(%0, %1) : "=r"(upper) : "r"(halves));
    return upper;
}

/* The upper half of a product, rounded down. */
TW_KERNEL int32_t tw_xp_high(int32_t a, int32_t b)
{
    int32_t high;
    __asm__("mulh %0, %1, %2" : "=r"(high) : "r"(a), "r"(b));
    return high;
}

TW_KERNEL int32_t tw_xp_sra(int32_t value, int32_t shift)
{
    __asm__("sra %0, %0, %1" : "+r"(value) : "r"(shift));
    return value;
}
#else
TW_KERNEL int32_t tw_xp_half(uint32_t word, int32_t at)
{
    const int32_t half = (int32_t)((word >> (16 * at)) & 65535);
    return (half < 32768) ? half : (half - 65536);
}

TW_KERNEL int32_t tw_xp_sdot_hh(int32_t sum, uint32_t a, uint32_t b)
{
    for (int32_t i = 0; i < 2; ++i) {
        sum = tw_xp_wrapped(sum, tw_xp_half(a, i) * tw_xp_half(b, i));
    }
    return sum;
}

TW_KERNEL uint32_t tw_xp_upper_bytes(uint32_t halves)
{
    const uint32_t low = (uint32_t)tw_xp_signed(halves, 1);
    const uint32_t high = (uint32_t)tw_xp_signed(halves, 3);
    return (low & 65535) | (high << 16);
}

TW_KERNEL int32_t tw_xp_high(int32_t a, int32_t b)
{
    const int64_t product = (int64_t)a * b;
    return (int32_t)((product < 0) ? ~(~product >> 32) : (product >> 32));
}

TW_KERNEL int32_t tw_xp_sra(int32_t value, int32_t shift)
{
    return (value < 0) ? ~(~value >> shift) : (value >> shift);
}
#endif

/* 16 bits hold the weights of two channels, 256 * upper + lower + 128: sums of both stand beside those of the upper.
 * The sums of a pair of channels over values whose sum is `total`, taken apart; where that is not finished, the first
 * only without what is too large. */
TW_KERNEL void tw_xp_pair_of_words(int32_t finished, int32_t total, int32_t *acc)
{
    const uint32_t moved = (uint32_t)acc[0] - (128 * (uint32_t)total);
    acc[0] = (int32_t)(finished ? (moved - (256 * (uint32_t)acc[1])) : moved);
}

/* Of four channels of `pixels` pixels, 1 or 2. */
TW_KERNEL void tw_xp_words_apart(int32_t pixels, int32_t finished, const int32_t *totals, int32_t *acc)
{
    tw_xp_pair_of_words(finished, totals[0], acc);
    tw_xp_pair_of_words(finished, totals[0], acc + 2);
    if (pixels == 2) {
        tw_xp_pair_of_words(finished, totals[1], acc + 4);
        tw_xp_pair_of_words(finished, totals[1], acc + 6);
    }
}
