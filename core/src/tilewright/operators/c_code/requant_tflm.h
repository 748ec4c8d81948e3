#pragma once
#include "floor_shift.h"
#include "prelude.h"
#include "requant.h"
#include <stdint.h>

/* A multiplier of 31 bits and an exponent, rounded twice: up at 2^31, then to nearest, halves away from zero. What is
 * shifted to the left wraps around at 32 bits. */
TW_KERNEL int32_t tw_requant_tflm(int64_t acc, const int32_t *words, tw_requant p)
{
    const int32_t left = (words[1] > 0) ? words[1] : 0;
    const int32_t right = (words[1] > 0) ? 0 : -words[1];
    const int64_t shifted = tw_wrapped((int64_t)((uint64_t)acc << left), 32);
    const int64_t high = tw_floor_shift((shifted * words[0]) + (INT64_C(1) << 30), 31);
    const int64_t half = (right > 0) ? ((INT64_C(1) << (right - 1)) - ((high < 0) ? 1 : 0)) : 0;
    const int64_t q = tw_floor_shift(high + half, right) + p.zero_point;
    return (q < p.low) ? p.low : ((q > p.high) ? p.high : (int32_t)q);
}
