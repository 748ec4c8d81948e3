#pragma once
#include "../prelude.h"
#include <stdint.h>

/* The float that has these bits. */
TW_KERNEL float tw_f32_of_bits(uint32_t x)
{
    const union { uint32_t bits; float number; } both = {.bits = x};
    return both.number;
}
