#pragma once
#include "../prelude.h"
#include <stdint.h>

/* The bits of a float. */
TW_KERNEL uint32_t tw_bits_of_f32(float x)
{
    const union { float number; uint32_t bits; } both = {.number = x};
    return both.bits;
}
