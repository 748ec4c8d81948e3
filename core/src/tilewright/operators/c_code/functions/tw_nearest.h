#pragma once
#include "../prelude.h"
#include <stdint.h>

/* The nearest integer, halves to the even one; beyond 2^30 the nearest of the two ends; NaN becomes 0. */
TW_KERNEL int32_t tw_nearest(float x)
{
    if (!(x > -0x1.0p+30f)) {
        return (x < 0.0f) ? -(1 << 30) : 0;
    }
    if (!(x < 0x1.0p+30f)) {
        return 1 << 30;
    }
    const int32_t whole = (int32_t)x;
    const float rest = x - (float)whole; /* exact: the fraction of a float is a float */
    const int32_t odd = whole & 1;
    if ((rest > 0.5f) || ((rest == 0.5f) && (odd != 0))) {
        return whole + 1;
    }
    return ((rest < -0.5f) || ((rest == -0.5f) && (odd != 0))) ? (whole - 1) : whole;
}
