#pragma once
#include "mve.h"
#include <stdint.h>

/* A sum whose product is rounded twice: (acc * multiplier + 2^30) >> 31, then over 2^-left to the nearest, halves away
 * from zero. */
TW_KERNEL int32_t tw_mve_requant_twice(int32_t acc, int32_t multiplier, int32_t left, int32_t zero_point, int32_t low,
        int32_t high)
{
    const int64_t product = (((int64_t)acc * multiplier) + (INT64_C(1) << 30)) >> 31;
    const int64_t half = (left < 0) ? ((INT64_C(1) << (-left - 1)) - ((product < 0) ? 1 : 0)) : 0;
    const int64_t q = ((product + half) >> -left) + zero_point;
    return (q < low) ? low : ((q > high) ? high : (int32_t)q);
}
