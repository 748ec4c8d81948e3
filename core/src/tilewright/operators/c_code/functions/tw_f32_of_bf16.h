#pragma once
#include "../prelude.h"
#include "tw_f32_of_bits.h"
#include <stdint.h>

/* What the bits of a bfloat16 stand for: exact. */
TW_KERNEL float tw_f32_of_bf16(uint16_t x)
{
    return tw_f32_of_bits((uint32_t)x << 16);
}
