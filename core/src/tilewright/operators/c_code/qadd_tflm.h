#pragma once
#include "prelude.h"
#include "requant.h"
#include "requant_tflm.h"
#include <stdint.h>

/* Two values, shifted by 20 (those of 16 bits by 15), each with its own multiplier and exponent; their sum or
 * difference with a third. */
typedef struct {
    int32_t a[2], b[2], y[2];
    int32_t a_zero_point;
    int32_t b_zero_point;
    int32_t sign;
    int32_t shift;
    tw_requant to;
} tw_qadd_tflm;

TW_KERNEL int32_t tw_qadd_rounded_tflm(int32_t a, int32_t b, tw_qadd_tflm p)
{
    const tw_requant whole = {.low = INT32_MIN, .high = INT32_MAX};
    const int32_t left = tw_requant_tflm((int64_t)(a - p.a_zero_point) * (1 << p.shift), p.a, whole);
    const int32_t right = tw_requant_tflm((int64_t)(b - p.b_zero_point) * (1 << p.shift), p.b, whole);
    return tw_requant_tflm(left + (p.sign * right), p.y, p.to);
}
