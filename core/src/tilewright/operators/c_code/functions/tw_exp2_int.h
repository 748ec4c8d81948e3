#pragma once
#include "../prelude.h"
#include <stdint.h>

/* 2^n for -126 <= n <= 127. */
TW_KERNEL float tw_exp2_int(int32_t n)
{
    const union { uint32_t bits; float value; } power = {.bits = (uint32_t)(n + 127) << 23};
    return power.value;
}
