#pragma once
#include "../prelude.h"
#include <stdint.h>

/* 2^n and the n of x = 2^n m, sqrt(1/2) <= m < sqrt(2), for positive finite x; m by its bits. */
TW_KERNEL float tw_split(float x, int32_t *n)
{
    union { float value; uint32_t bits; } part = {.value = x};
    int32_t exponent = 0;
    if (part.bits < UINT32_C(0x00800000)) { /* below the normal range */
        part.value = x * 0x1.0p+24f;
        exponent = -24;
    }
    const uint32_t moved = part.bits + (UINT32_C(0x3f800000) - UINT32_C(0x3f3504f3));
    exponent += (int32_t)(moved >> 23) - 127;
    part.bits = (moved & UINT32_C(0x007fffff)) + UINT32_C(0x3f3504f3);
    *n = exponent;
    return part.value;
}
