#pragma once
#include "../prelude.h"
#include <stdint.h>

/* The logarithm to base 2 of a positive finite x in its normal range: x = 2^n m, by the series of atanh. */
TW_KERNEL double tw_log2(double x)
{
    union { double value; uint64_t bits; } part = {.value = x};
    const uint64_t moved = part.bits + (UINT64_C(0x3ff0000000000000) - UINT64_C(0x3fe6a09e667f3bcd));
    const int32_t n = (int32_t)(moved >> 52) - 1023;
    part.bits = (moved & UINT64_C(0x000fffffffffffff)) + UINT64_C(0x3fe6a09e667f3bcd);
    const double s = (part.value - 1.0) / (part.value + 1.0);
    const double z = s * s;
    const double q = 0x1.71547652b82fep+1
        + (z * (0x1.ec709dc3a03fdp-1
        + (z * (0x1.2776c50ef9bfep-1
        + (z * (0x1.a61762a7aded9p-2
        + (z * (0x1.484b13d7c02a9p-2
        + (z * (0x1.0c9a84994022dp-2
        + (z * (0x1.c68f568d31760p-3
        + (z * (0x1.89f3b1694cffep-3
        + (z * (0x1.5b9ac9b743f0dp-3
        + (z * (0x1.3703c1f4d0ffep-3
        + (z * 0x1.1964ec6fc9491p-3)))))))))))))))))));
    return (double)n + (s * q);
}
