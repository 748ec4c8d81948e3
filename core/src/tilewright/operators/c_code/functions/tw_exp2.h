#pragma once
#include "../prelude.h"
#include <stdint.h>

/* 2^x for |x| below 1000, by its series around the nearest integer. */
TW_KERNEL double tw_exp2(double x)
{
    const int32_t n = (int32_t)((x < 0.0) ? (x - 0.5) : (x + 0.5));
    const double f = x - (double)n;
    const double q = 0x1.0000000000000p+0
        + (f * (0x1.62e42fefa39efp-1
        + (f * (0x1.ebfbdff82c58ep-3
        + (f * (0x1.c6b08d704a0bfp-5
        + (f * (0x1.3b2ab6fba4e77p-7
        + (f * (0x1.5d87fe78a6730p-10
        + (f * (0x1.430912f86c786p-13
        + (f * (0x1.ffcbfc588b0c5p-17
        + (f * (0x1.62c0223a5c822p-20
        + (f * (0x1.b5253d395e7c1p-24
        + (f * (0x1.e4cf5158b8ec7p-28
        + (f * (0x1.e8cac7351bb22p-32
        + (f * 0x1.c3bd650fc2983p-36)))))))))))))))))))))));
    const union { uint64_t bits; double value; } power = {.bits = (uint64_t)(n + 1023) << 52};
    return q * power.value;
}
