#pragma once
#include "tw_exp2.h"
#include "tw_log2.h"
#include "../prelude.h"
#include <math.h>
#include <stdint.h>

/* x to the power y, special values as in C's pow. The exponent is a double, which holds any float and any int32_t. */
TW_KERNEL float tw_powf(float x, double y)
{
    if ((y == 0.0) || (x == 1.0f)) {
        return 1.0f;
    }
    if ((x != x) || (y != y)) {
        return NAN;
    }
    const union { float value; uint32_t bits; } part = {.value = x};
    const float size = (x < 0.0f) ? -x : x;
    const int whole = !((y > -0x1.0p+53) && (y < 0x1.0p+53)) || ((double)(int64_t)y == y);
    const int odd = whole && (y > -0x1.0p+53) && (y < 0x1.0p+53) && (((int64_t)y & 1) != 0);
    float power;
    if ((size == 0.0f) || (size == INFINITY)) {
        power = ((size == 0.0f) == (y < 0.0)) ? INFINITY : 0.0f;
    } else if (!((y > -INFINITY) && (y < INFINITY))) {
        power = (size == 1.0f) ? 1.0f : (((size > 1.0f) == (y > 0.0)) ? INFINITY : 0.0f);
    } else if ((x < 0.0f) && !whole) {
        return NAN;
    } else {
        const double logarithm = y * tw_log2((double)size);
        power = (logarithm >= 128.0) ? INFINITY : ((logarithm < -150.0) ? 0.0f : (float)tw_exp2(logarithm));
    }
    return (odd && ((part.bits >> 31) != 0)) ? -power : power;
}
