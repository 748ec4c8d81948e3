#pragma once
#include "prelude.h"
#include <stdint.h>

/* The largest integer whose square is not above `value`. */
TW_KERNEL int64_t tw_integer_root(int64_t value)
{
    uint64_t rest = (uint64_t)value;
    uint64_t root = 0;
    for (uint64_t bit = UINT64_C(1) << 62; bit != 0; bit >>= 2) {
        const uint64_t next = root + bit;
        root >>= 1;
        if (rest >= next) {
            rest -= next;
            root += bit;
        }
    }
    return (int64_t)root;
}

TW_KERNEL int32_t tw_integer_root_32(int32_t value)
{
    uint32_t rest = (uint32_t)value;
    uint32_t root = 0;
    for (uint32_t bit = UINT32_C(1) << 30; bit != 0; bit >>= 2) {
        const uint32_t next = root + bit;
        root >>= 1;
        if (rest >= next) {
            rest -= next;
            root += bit;
        }
    }
    return (int32_t)root;
}

/* value / 2^shift, rounded down. */
TW_KERNEL int32_t tw_floor_shift_32(int32_t value, int32_t shift)
{
    return (value < 0) ? ~(~value >> shift) : (value >> shift);
}
