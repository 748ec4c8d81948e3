#pragma once
#include "../prelude.h"
#include <stdint.h>

/* The lowest 64 bits of a power, by squaring. */
TW_KERNEL uint64_t tw_pow_int(uint64_t base, uint64_t exponent)
{
    uint64_t power = 1;
    for (; exponent != 0; exponent >>= 1) {
        power *= ((exponent & 1) != 0) ? base : 1;
        base *= base;
    }
    return power;
}
