#pragma once
#include "prelude.h"
#include <stdint.h>

/* value / 2^shift, rounded down: >> of a negative number is the compiler's own. */
TW_KERNEL int64_t tw_floor_shift(int64_t value, int32_t shift)
{
    return (value < 0) ? ~(~value >> shift) : (value >> shift);
}

/* What a signed register of `bits` (below 64) holds of `value`. */
TW_KERNEL int64_t tw_wrapped(int64_t value, int32_t bits)
{
    const uint64_t half = UINT64_C(1) << (bits - 1);
    const uint64_t kept = ((uint64_t)value + half) & ((half << 1) - 1);
    return (int64_t)kept - (int64_t)half;
}
