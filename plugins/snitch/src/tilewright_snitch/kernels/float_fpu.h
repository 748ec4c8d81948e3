#pragma once
#include "streams.h"
#include "prelude.h"
#include <stdint.h>

#ifdef TW_SN_STREAMS
#  define TW_SN_FPU 1 /* the float unit's own instructions, beside C that any machine runs */
/* Around instructions that are executed [trips] times. The integer core counts; it waits for no float. */
#  define TW_SN_LOOP(count) "1:\n\t"
#  define TW_SN_LOOP_END "addi %[trips], %[trips], -1\n\tbnez %[trips], 1b\n\t"
#  define TW_SN_MAX(rd, rs1, rs2) "bge " #rs1 ", " #rs2 ", 2f\n\tmv " #rd ", " #rs2 "\n\t2:\n\t"
#endif

/* 0 where a result of arithmetic is negative; NaN stays. */
TW_KERNEL float tw_sn_f32_relu(float value)
{
    return (value < 0.0f) ? 0.0f : value;
}

/* A constant out of instructions: from the main memory, each takes a hundred cycles. */
TW_KERNEL float tw_sn_f32_fixed(float value)
{
#ifdef TW_SN_FPU
    const union { float number; uint32_t word; } bits = {.number = value};
    float kept;
    __asm__("fmv.w.x %0, %1" : "=f"(kept) : "r"(bits.word));
    return kept;
#else
    return value;
#endif
}

#ifdef TW_SN_FPU
TW_KERNEL float tw_sn_f32_max_half(double both)
{
    float chosen;
    float other;
    const float one = tw_sn_apart(both, &other);
    __asm__("fmax.s %0, %1, %2" : "=f"(chosen) : "f"(one), "f"(other));
    return chosen;
}

TW_KERNEL float tw_sn_f32_min_half(double both)
{
    float chosen;
    float other;
    const float one = tw_sn_apart(both, &other);
    __asm__("fmin.s %0, %1, %2" : "=f"(chosen) : "f"(one), "f"(other));
    return chosen;
}
#endif
