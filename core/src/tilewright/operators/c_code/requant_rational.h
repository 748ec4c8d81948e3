#pragma once
#include "prelude.h"
#include "requant.h"
#include <stdint.h>

/* acc * numerator / denominator (two words each, the lower one first) to the nearest; halves to even, or from zero. */
TW_KERNEL int32_t tw_requant_rational(int64_t acc, const int32_t *words, int32_t away, tw_requant p)
{
    const int64_t numerator = ((int64_t)words[1] * (INT64_C(1) << 32)) + (int64_t)(uint32_t)words[0];
    const int64_t denominator = ((int64_t)words[3] * (INT64_C(1) << 32)) + (int64_t)(uint32_t)words[2];
    const int64_t product = acc * numerator;
    const int64_t size = (product < 0) ? -product : product;
    const int64_t down = size / denominator;
    const int64_t twice = 2 * (size - (down * denominator));
    const int32_t up = (twice > denominator) || ((twice == denominator) && ((away != 0) || ((down % 2) != 0)));
    const int64_t whole = down + up;
    const int64_t q = ((product < 0) ? -whole : whole) + p.zero_point;
    return (q < p.low) ? p.low : ((q > p.high) ? p.high : (int32_t)q);
}

TW_KERNEL int32_t tw_requant_rational_even(int64_t acc, const int32_t *words, tw_requant p)
{
    return tw_requant_rational(acc, words, 0, p);
}

TW_KERNEL int32_t tw_requant_rational_away(int64_t acc, const int32_t *words, tw_requant p)
{
    return tw_requant_rational(acc, words, 1, p);
}
