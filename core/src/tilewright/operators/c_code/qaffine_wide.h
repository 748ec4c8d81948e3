#pragma once
#include "qaffine.h"
#include <stdint.h>

/* The same in 64 bits: of values of 16. */
TW_KERNEL int32_t tw_qaffine_rounded_wide(int32_t distance, int32_t factor, int64_t addend, tw_qaffine p)
{
    const int64_t sum = ((int64_t)distance * factor) + addend;
    const int64_t q = (sum < 0) ? ~(~sum >> p.shift) : (sum >> p.shift);
    return (q < p.low) ? p.low : ((q > p.high) ? p.high : (int32_t)q);
}

TW_KERNEL int32_t tw_qaffine_even_wide(int32_t distance, int32_t factor, int64_t addend, tw_qaffine p)
{
    const int64_t sum = ((int64_t)distance * factor) + addend;
    const int64_t floor = (sum < 0) ? ~(~sum >> p.shift) : (sum >> p.shift);
    const uint64_t left = (uint64_t)sum & ((UINT64_C(1) << p.shift) - 1);
    const int64_t q = ((left == 0) && (((floor - p.zero_point) % 2) != 0)) ? (floor - 1) : floor;
    return (q < p.low) ? p.low : ((q > p.high) ? p.high : (int32_t)q);
}
