#pragma once
#include "mve.h"
#include <stdint.h>

/* A sum that is multiplied, added to and shifted: (acc * multiplier + addend) >> -left. Nothing leaves 32 bits. */
TW_KERNEL int32_t tw_mve_requant_shift(int32_t acc, int32_t multiplier, int32_t addend, int32_t left, int32_t zero_point,
        int32_t low, int32_t high)
{
    const int32_t q = (((acc * multiplier) + addend) >> -left) + zero_point;
    return (q < low) ? low : ((q > high) ? high : q);
}
