#pragma once
#include "dsp.h"
#include <stdint.h>

/* Sums that are requantised by a product that is rounded twice: their multiplier, what is added to the upper half, and
 * bits. Where one rounding is both, the sum moves to the left by these bits first; else the rest to the right. */
#define TW_DSP_ONCE(sum, multiplier, above, amount, narrow, bits, shift) \
    "lsl " #sum ", " #sum ", " #amount "\n\t" \
    "smmla " #sum ", " #sum ", " #multiplier ", " #above "\n\t" \
    #narrow " " #sum ", #" #bits ", " #sum ", asr #" #shift "\n\t"
#define TW_DSP_TWICE(sum, multiplier, above, amount, narrow, bits, shift) \
    "lsl " #sum ", " #sum ", #1\n\t" \
    "smmulr " #sum ", " #sum ", " #multiplier "\n\t" \
    "add " #sum ", " #sum ", " #sum ", asr #31\n\t" \
    "add " #sum ", " #sum ", " #above "\n\t" \
    "asr " #sum ", " #sum ", " #amount "\n\t" \
    #narrow " " #sum ", #" #bits ", " #sum "\n\t"

/* (acc * multiplier + 2^30) >> 31; acc is below 2^30, or its multiplier is 0. */
TW_KERNEL int32_t tw_dsp_doubled(int32_t acc, int32_t multiplier)
{
#ifdef TW_DSP_ARM
    int32_t r;
    __asm__("smmulr %0, %1, %2" : "=r"(r) : "r"((uint32_t)acc << 1), "r"(multiplier));
    return r;
#else
    return (int32_t)((((int64_t)acc * multiplier) + (INT64_C(1) << 30)) >> 31);
#endif
}

/* The sum before it is shifted by `shift` and clamped; 0: it is no longer shifted. */
TW_KERNEL int32_t tw_dsp_twice(int32_t acc, int32_t multiplier, int32_t above, int32_t amount, int32_t shift)
{
    if (shift != 0) {
        return tw_dsp_mmla((int32_t)((uint32_t)acc << amount), multiplier, above);
    }
    const int32_t high = tw_dsp_doubled(acc, multiplier);
    return (high - ((high < 0) ? 1 : 0) + above) >> amount;
}

/* The same, shifted and clamped. */
TW_KERNEL int32_t tw_dsp_requant_twice(int32_t acc, int32_t multiplier, int32_t above, int32_t amount, int32_t shift,
        int32_t low, int32_t high)
{
    const int32_t q = tw_dsp_twice(acc, multiplier, above, amount, shift) >> shift;
    return (q < low) ? low : ((q > high) ? high : q);
}
