#pragma once
#include "xpulp.h"
#include "prelude.h"
#include <stdint.h>

#if defined(TW_XP_ASM) && defined(__riscv_flen)
#  define TW_XP_FPU 1 /* the core's own float instructions, beside C that any machine runs */
#endif

/* a b + c: rounded once where that is one instruction. */
TW_KERNEL float tw_xp_f32_fma(float a, float b, float c)
{
#ifdef TW_XP_FPU
    return __builtin_fmaf(a, b, c);
#else
    return a * b + c;
#endif
}

/* The larger of a value and a limit; the limit where the value is NaN. */
TW_KERNEL float tw_xp_f32_max(float value, float limit)
{
#ifdef TW_XP_FPU
    float chosen; /* not the built-in function: gcc 12 calls a library */
    __asm__("fmax.s %0, %1, %2" : "=f"(chosen) : "f"(value), "f"(limit));
    return chosen;
#else
    return value > limit ? value : limit;
#endif
}

/* The smaller of a value and a limit; the limit where the value is NaN. */
TW_KERNEL float tw_xp_f32_min(float value, float limit)
{
#ifdef TW_XP_FPU
    float chosen; /* not the built-in function: gcc 12 calls a library */
    __asm__("fmin.s %0, %1, %2" : "=f"(chosen) : "f"(value), "f"(limit));
    return chosen;
#else
    return value < limit ? value : limit;
#endif
}

TW_KERNEL uint32_t tw_xp_f32_bits(float value)
{
    const union { float from; uint32_t to; } bits = {.from = value};
    return bits.to;
}

TW_KERNEL float tw_xp_f32_from(uint32_t value)
{
    const union { uint32_t from; float to; } bits = {.from = value};
    return bits.to;
}

TW_KERNEL float tw_xp_f32_abs(float value)
{
#ifdef TW_XP_FPU
    return __builtin_fabsf(value);
#else
    return tw_xp_f32_from(tw_xp_f32_bits(value) & UINT32_C(0x7fffffff));
#endif
}

/* The magnitude of one, the sign of the other. */
TW_KERNEL float tw_xp_f32_signed(float magnitude, float sign)
{
#ifdef TW_XP_FPU
    return __builtin_copysignf(magnitude, sign);
#else
    return tw_xp_f32_from((tw_xp_f32_bits(magnitude) & UINT32_C(0x7fffffff))
        | (tw_xp_f32_bits(sign) & UINT32_C(0x80000000)));
#endif
}

/* 0 where a result of arithmetic is negative. Its NaN has no sign, so that an integer's order keeps it. */
TW_KERNEL float tw_xp_f32_relu(float value)
{
#ifdef TW_XP_FPU
    uint32_t bits = tw_xp_f32_bits(value);
    __asm__(TW_XP_MAX(%0, %0, x0) : "+r"(bits));
    return tw_xp_f32_from(bits);
#else
    return value < 0.0f ? 0.0f : value;
#endif
}
