#pragma once
#include "xpulp.h"
#include "prelude.h"
#include <stdint.h>

#if defined(TW_XP_ASM) && defined(__riscv_flen)
#  define TW_XP_FPU 1 /* the core's own float instructions, beside C that any machine runs */
#endif

/* 0 where a result of arithmetic is negative. Its NaN has no sign, so that an integer's order keeps it. */
TW_KERNEL float tw_xp_f32_relu(float value)
{
#ifdef TW_XP_FPU
    union { float number; uint32_t word; } bits = {.number = value};
    __asm__(TW_XP_MAX(%0, %0, x0) : "+r"(bits.word));
    return bits.number;
#else
    return (value < 0.0f) ? 0.0f : value;
#endif
}
