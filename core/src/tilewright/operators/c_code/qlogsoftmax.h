#pragma once
#include "floor_shift.h"
#include "prelude.h"
#include <stdint.h>

typedef struct {
    /* elements of one row, and from one to the next */
    int32_t count, x_step, y_step;
    int32_t entries; /* of the table: differences from here on count for nothing */
    /* steps of the result over 2^shift: of one of x, of a logarithm of 2, and what rounds */
    int32_t factor, of_two, addend, shift, low, high;
} tw_qlogsoftmax;

/* The logarithm to the base 2 of a number from 2^31 on, over 2^31, 20 bits behind the point: squares say bit by bit. */
TW_KERNEL int32_t tw_log2_of_sum(uint64_t sum)
{
    int32_t power = 0;
    while (sum >= (UINT64_C(1) << 32)) {
        sum >>= 1;
        power += 1;
    }
    int32_t result = power;
    for (int32_t bit = 0; bit < 20; ++bit) {
        sum = (sum * sum) >> 31;
        const uint64_t above = sum >> 32;
        sum >>= above;
        result = (result * 2) + (int32_t)above;
    }
    return result;
}
