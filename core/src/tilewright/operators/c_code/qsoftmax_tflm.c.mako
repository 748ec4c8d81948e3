#include "qsoftmax.h"

/* a * b / 2^31 of numbers that are not negative, rounded. */
TW_KERNEL int64_t tw_softmax_high(int64_t a, int64_t b)
{
    return ((a * b) + (INT64_C(1) << 30)) >> 31;
}

/* 2^31 / (sum * 2^zeros / 2^31) in 31 bits: from half of the divisor, 48/17 - 32/17 h and three steps of Newton's
 * method. What is left of 1 after a step may be negative: 2^40 keeps it positive where it is shifted. */
TW_KERNEL int64_t tw_softmax_reciprocal(uint32_t sum, int32_t *zeros)
{
    *zeros = 0;
    while ((sum & UINT32_C(0x80000000)) == 0) {
        sum <<= 1;
        ++*zeros;
    }
    const int64_t half = (int64_t)(sum >> 1);
    int64_t r = INT64_C(1515870810) - (((half * INT64_C(1010580540)) + (INT64_C(1) << 30) - 1) >> 31);
    for (int32_t i = 0; i < 3; ++i) {
        const int64_t left = (INT64_C(1) << 29) - tw_softmax_high(half, r);
        const int64_t step = (((r * left) + (INT64_C(1) << 30) + (INT64_C(1) << 62)) >> 31) - (INT64_C(1) << 31);
        r += step * 4;
    }
    return (r > INT64_C(0x3fffffff)) ? INT64_C(0x7fffffff) : (r * 2);
}

/* One row: y = clamp(exponential * reciprocal of their sum + zero_point), as fixed point of 31 bits. */
TW_KERNEL void ${function}(const tw_qsoftmax p, const ${x_type} *x, const uint32_t *t, ${y_type} *y)
{
    int32_t largest = x[0];
    for (int32_t i = 1; i < p.count; ++i) {
        largest = (x[i * p.x_step] > largest) ? x[i * p.x_step] : largest;
    }
    uint32_t sum = 0;
    for (int32_t i = 0; i < p.count; ++i) {
        sum += (tw_qsoftmax_entry(largest - x[i * p.x_step], p.entries, t) + 2048) >> 12;
    }
    int32_t zeros;
    const int64_t scale = tw_softmax_reciprocal(sum, &zeros);
    const int32_t shift = 12 - zeros + 31 - 8;
    for (int32_t i = 0; i < p.count; ++i) {
        const int64_t e = tw_qsoftmax_entry(largest - x[i * p.x_step], p.entries, t);
        const int64_t high = tw_softmax_high(scale, e);
        const int32_t q = (int32_t)((high + (INT64_C(1) << (shift - 1))) >> shift) + p.zero_point;
        y[i * p.y_step] = (${y_type})((q < p.low) ? p.low : ((q > p.high) ? p.high : q));
    }
}
