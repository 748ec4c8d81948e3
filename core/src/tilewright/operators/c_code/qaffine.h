#pragma once
#include "prelude.h"
#include <stdint.h>

typedef struct {
    int32_t x_zero_point, shift, zero_point, low, high;
} tw_qaffine;

/* The sum fits 32 bits, which was checked when this was generated; >> of a negative number is the compiler's own. */
TW_KERNEL int32_t tw_qaffine_rounded(int32_t distance, int32_t factor, int32_t addend, tw_qaffine p)
{
    const int32_t sum = (distance * factor) + addend;
    const int32_t q = (sum < 0) ? ~(~sum >> p.shift) : (sum >> p.shift);
    return (q < p.low) ? p.low : ((q > p.high) ? p.high : q);
}

/* The same, and halves, which leave nothing behind the shift, go to the even distance from the zero point. */
TW_KERNEL int32_t tw_qaffine_even(int32_t distance, int32_t factor, int32_t addend, tw_qaffine p)
{
    const int32_t sum = (distance * factor) + addend;
    const int32_t floor = (sum < 0) ? ~(~sum >> p.shift) : (sum >> p.shift);
    const uint32_t left = (uint32_t)sum & ((UINT32_C(1) << p.shift) - 1);
    const int32_t q = ((left == 0) && (((floor - p.zero_point) % 2) != 0)) ? (floor - 1) : floor;
    return (q < p.low) ? p.low : ((q > p.high) ? p.high : q);
}
