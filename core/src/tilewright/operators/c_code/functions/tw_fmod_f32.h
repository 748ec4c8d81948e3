#pragma once
#include "tw_exp2_int.h"
#include "../prelude.h"
#include <math.h>
#include <stdint.h>

/* What is left of x after it is divided by y a whole number of times, with the sign of x: exact, bit by bit. */
TW_KERNEL float tw_fmod_f32(float x, float y)
{
    const union { float value; uint32_t bits; } dividend = {.value = (x < 0.0f) ? -x : x};
    const union { float value; uint32_t bits; } divisor = {.value = (y < 0.0f) ? -y : y};
    if (!(dividend.value < INFINITY) || !(divisor.value > 0.0f)) {
        return NAN;
    }
    if ((dividend.value < divisor.value) || (divisor.value == INFINITY)) {
        return x;
    }
    int32_t exponent = (int32_t)(dividend.bits >> 23);
    int32_t last = (int32_t)(divisor.bits >> 23);
    uint32_t rest = (dividend.bits & UINT32_C(0x007fffff)) | ((exponent > 0) ? UINT32_C(0x00800000) : 0);
    const uint32_t step = (divisor.bits & UINT32_C(0x007fffff)) | ((last > 0) ? UINT32_C(0x00800000) : 0);
    exponent += exponent == 0;
    last += last == 0;
    rest %= step;
    for (; exponent > last; --exponent) {
        rest = (rest << 1) % step;
    }
    const int32_t scale = last - 150;
    const int32_t half = scale / 2;
    const float left = (float)rest * tw_exp2_int(half) * tw_exp2_int(scale - half);
    return (x < 0.0f) ? -left : left;
}
