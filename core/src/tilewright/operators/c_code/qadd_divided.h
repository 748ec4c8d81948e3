#pragma once
#include "prelude.h"
#include <stdint.h>

/* Two values, each times its own factor: the sum over an even divisor, halves to the even neighbour. */
typedef struct {
    int64_t a_factor, b_factor, offset, divisor;
    int32_t zero_point;
    int32_t low;
    int32_t high;
} tw_qadd_divided;

TW_KERNEL int32_t tw_qadd_rounded_divided(int32_t a, int32_t b, tw_qadd_divided p)
{
    const int64_t sum = (a * p.a_factor) + (b * p.b_factor) + p.offset;
    const int64_t down = (sum / p.divisor) - (((sum % p.divisor) < 0) ? 1 : 0);
    const int64_t rest = sum - (down * p.divisor) + (((down % 2) != 0) ? 1 : 0);
    const int64_t q = down + ((rest > (p.divisor / 2)) ? 1 : 0) + p.zero_point;
    return (q < p.low) ? p.low : ((q > p.high) ? p.high : (int32_t)q);
}
