#pragma once
#include "../prelude.h"
#include "tw_bits_of_f32.h"
#include <stdint.h>

/* The bits of the nearest bfloat16, halves to even; NaN stays NaN. */
TW_KERNEL uint16_t tw_bf16_of_f32(float x)
{
    const uint32_t bits = tw_bits_of_f32(x);
    if ((bits & 0x7fffffffu) > 0x7f800000u) {
        return (uint16_t)((bits >> 16) | 0x40u);
    }
    return (uint16_t)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}
