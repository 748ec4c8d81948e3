#pragma once
#include "floor_shift.h"
#include "prelude.h"
#include <stdint.h>

/* Gates of integer recurrences: sums, functions and products of 16 bits. */
TW_KERNEL int32_t tw_gate_limited(int32_t value)
{
    return (value < -32768) ? -32768 : ((value > 32767) ? 32767 : value);
}

/* value / 2^shift, rounded down: >> of a negative number is the compiler's own. */
TW_KERNEL int32_t tw_gate_floor(int32_t value, int32_t shift)
{
    return (value < 0) ? ~(~value >> shift) : (value >> shift);
}

/* A multiplier of 31 bits and an exponent, rounded twice: up at 2^31, then to nearest, halves away from zero. */
TW_KERNEL int32_t tw_gate_scaled(int32_t sum, const int32_t *words)
{
    const int32_t left = (words[1] > 0) ? words[1] : 0;
    const int32_t right = (words[1] > 0) ? 0 : -words[1];
    const int64_t product = ((int64_t)(sum * (1 << left)) * words[0]) + (INT64_C(1) << 30);
    const int32_t high = (int32_t)tw_floor_shift(product, 31);
    const int32_t below = high & ((1 << right) - 1);
    const int32_t half = ((1 << right) >> 1) + ((high < 0) ? 1 : 0);
    return tw_gate_floor(high, right) + (((right > 0) && (below >= half)) ? 1 : 0);
}

/* The same of what is a gate's, in 16 bits. */
TW_KERNEL int32_t tw_gate_product(int32_t a, int32_t b, const int32_t *words)
{
    return tw_gate_limited(tw_gate_scaled(a * b, words));
}

/* Of a sum of 64 bits: a multiplier of 16 bits and a shift to the right, rounded once. */
TW_KERNEL int32_t tw_gate_scaled_wide(int64_t sum, const int32_t *words)
{
    const int64_t value = tw_floor_shift((sum * words[0]) + (INT64_C(1) << (words[1] - 1)), words[1]);
    return (value < -32768) ? -32768 : ((value > 32767) ? 32767 : (int32_t)value);
}

TW_KERNEL int32_t tw_gate_sigmoid(int32_t v, const uint16_t *table)
{
    const int32_t size = 3 * ((v < 0) ? -v : v);
    const int32_t k = size >> 9;
    int32_t value = 32767 << 10;
    if (k < 255) {
        value = (table[k] * 512) + ((size & 511) * (table[k + 1] - table[k]));
    }
    return ((v < 0) ? ((1 << 25) - value + 511) : (value + 512)) >> 10;
}

/* words: what v is multiplied with, and then shifted to the right by. */
TW_KERNEL int32_t tw_gate_tanh(int32_t v, const int32_t *words, const uint16_t *table)
{
    const int32_t half = (words[1] > 0) ? (1 << (words[1] - 1)) : 0;
    const int32_t place = tw_gate_floor((v * words[0]) + half, words[1]);
    const int32_t size = (place < 0) ? -place : place;
    const int32_t k = size >> 8;
    int32_t value = 65535 << 8;
    if (k < 255) {
        value = (table[k] * 256) + ((size & 255) * (table[k + 1] - table[k]));
    }
    value = (value - (1 << 23) + 128) >> 8;
    return (place < 0) ? -value : value;
}
