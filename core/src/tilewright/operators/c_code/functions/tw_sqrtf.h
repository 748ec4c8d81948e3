#pragma once
#include "../prelude.h"
#include <math.h>
#include <stdint.h>

/* The square root, correctly rounded, bit by bit: no unit and no library is asked. */
TW_KERNEL float tw_sqrtf(float x)
{
    union { float value; uint32_t bits; } part = {.value = x};
    if (!((x > 0.0f) && (x < INFINITY))) {
        return (x < 0.0f) ? NAN : x;
    }
    int32_t exponent = 0;
    if (part.bits < UINT32_C(0x00800000)) {
        part.value = x * 0x1.0p+24f;
        exponent = -24;
    }
    exponent += (int32_t)(part.bits >> 23) - 127;
    uint32_t rest = (part.bits & UINT32_C(0x007fffff)) | UINT32_C(0x00800000);
    if ((exponent & 1) != 0) {
        rest <<= 1;
        exponent -= 1;
    }
    uint32_t root = 0;
    uint32_t sum = 0;
    for (uint32_t bit = UINT32_C(0x01000000); bit != 0; bit >>= 1) {
        rest <<= 1;
        if ((sum + bit) <= rest) {
            sum += 2 * bit;
            rest -= sum - bit;
            root += bit;
        }
    }
    root = (root + (root & 1)) >> 1; /* 25 bits to 24: no root of a float lies half-way */
    part.bits = ((uint32_t)((exponent / 2) + 126) << 23) + root;
    return part.value;
}
