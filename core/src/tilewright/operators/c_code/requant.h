#pragma once
#include "prelude.h"
#include <stdint.h>

/* An integer accumulator becomes a value of 8 or 16 bits: clamp(rne((float)acc * scale) + zero_point, low, high). */
typedef struct {
    int32_t shift;
    int32_t zero_point;
    int32_t low;
    int32_t high;
    /* whether any channel of the layer uses this form */
    int32_t fixed;
    int32_t exact;
} tw_requant;

/* (acc * multiplier + half) >> shift, proved equal to the formula at compile time for every accumulator that can occur.
 * Adding 2^62 keeps the dividend positive, where >> is defined; it is taken away again with the zero point. */
TW_KERNEL int32_t tw_requant_fixed(int64_t product, tw_requant p)
{
    const uint64_t above = (UINT64_C(1) << 62) + (UINT64_C(1) << (p.shift - 1));
    const uint64_t shifted = ((uint64_t)product + above) >> p.shift;
    if (p.shift >= 33) { /* fits: 32-bit arithmetic from here */
        const int32_t q = (int32_t)shifted - ((int32_t)1 << ((62 - p.shift) & 31)) + p.zero_point;
        return (q < p.low) ? p.low : ((q > p.high) ? p.high : q);
    }
    const int64_t q = (int64_t)shifted - (INT64_C(1) << (62 - p.shift)) + p.zero_point;
    return (q < p.low) ? p.low : ((q > p.high) ? p.high : (int32_t)q);
}

/* clamp(rne(v), low, high), the limits below 2^22. Adding 3 * 2^22 leaves no bit for a fraction: the addition rounds,
 * to nearest even, and the integer is in the low bits of the sum. A target may bring its own. */
#ifndef TW_ROUND_CLAMPED
TW_KERNEL int32_t tw_round_clamped(float v, int32_t low, int32_t high)
{
    const float least = (float)low;
    const float most = (float)high;
    const float inside = (v < least) ? least : ((v > most) ? most : v);
    const union { float value; int32_t bits; } sum = {.value = inside + 12582912.0f};
    return sum.bits - INT32_C(0x4b400000);
}
#  define TW_ROUND_CLAMPED tw_round_clamped
#endif

/* The formula itself. */
TW_KERNEL int32_t tw_requant_exact(float acc, int32_t word, tw_requant p)
{
    const union { uint32_t bits; float value; } scale = {.bits = (uint32_t)word & UINT32_C(0x7fffffff)};
    return TW_ROUND_CLAMPED(acc * scale.value, p.low - p.zero_point, p.high - p.zero_point) + p.zero_point;
}
