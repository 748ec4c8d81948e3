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

/* a b + c: rounded once where that is one instruction. */
TW_KERNEL float tw_sn_f32_fma(float a, float b, float c)
{
#ifdef TW_SN_FPU
    float sum; /* not the built-in function: clang calls a library, which takes floats for words before they are stored */
    __asm__("fmadd.s %0, %1, %2, %3" : "=f"(sum) : "f"(a), "f"(b), "f"(c));
    return sum;
#else
    return a * b + c;
#endif
}

/* The larger of a value and a limit; the limit where the value is NaN. */
TW_KERNEL float tw_sn_f32_max(float value, float limit)
{
#ifdef TW_SN_FPU
    float chosen; /* not the built-in function: gcc 12 calls a library */
    __asm__("fmax.s %0, %1, %2" : "=f"(chosen) : "f"(value), "f"(limit));
    return chosen;
#else
    return value > limit ? value : limit;
#endif
}

/* The smaller of a value and a limit; the limit where the value is NaN. */
TW_KERNEL float tw_sn_f32_min(float value, float limit)
{
#ifdef TW_SN_FPU
    float chosen;
    __asm__("fmin.s %0, %1, %2" : "=f"(chosen) : "f"(value), "f"(limit));
    return chosen;
#else
    return value < limit ? value : limit;
#endif
}

TW_KERNEL uint32_t tw_sn_f32_bits(float value)
{
    const union { float from; uint32_t to; } bits = {.from = value};
    return bits.to;
}

TW_KERNEL float tw_sn_f32_from(uint32_t value)
{
    const union { uint32_t from; float to; } bits = {.from = value};
    return bits.to;
}

/* A constant out of instructions: from the main memory, each takes a hundred cycles. */
TW_KERNEL float tw_sn_f32_fixed(float value)
{
#ifdef TW_SN_FPU
    float kept;
    __asm__("fmv.w.x %0, %1" : "=f"(kept) : "r"(tw_sn_f32_bits(value)));
    return kept;
#else
    return value;
#endif
}

TW_KERNEL float tw_sn_f32_abs(float value)
{
#ifdef TW_SN_FPU
    return __builtin_fabsf(value);
#else
    return tw_sn_f32_from(tw_sn_f32_bits(value) & UINT32_C(0x7fffffff));
#endif
}

/* The magnitude of one, the sign of the other. */
TW_KERNEL float tw_sn_f32_signed(float magnitude, float sign)
{
#ifdef TW_SN_FPU
    return __builtin_copysignf(magnitude, sign);
#else
    return tw_sn_f32_from((tw_sn_f32_bits(magnitude) & UINT32_C(0x7fffffff))
        | (tw_sn_f32_bits(sign) & UINT32_C(0x80000000)));
#endif
}

/* 0 where a result of arithmetic is negative; NaN stays. */
TW_KERNEL float tw_sn_f32_relu(float value)
{
    return value < 0.0f ? 0.0f : value;
}

#ifdef TW_SN_FPU
/* Two halves of a register apart. */
TW_KERNEL float tw_sn_f32_apart(double both, float *other)
{
    double room;
    float low, high;
    __asm__ volatile("fsd %2, 0(%3)\n\tflw %0, 0(%3)\n\tflw %1, 4(%3)"
                     : "=&f"(low), "=&f"(high)
                     : "f"(both), "r"(&room)
                     : "memory");
    *other = high;
    return low;
}

TW_KERNEL float tw_sn_f32_max_half(double both)
{
    float other;
    const float one = tw_sn_f32_apart(both, &other);
    return tw_sn_f32_max(one, other);
}

TW_KERNEL float tw_sn_f32_min_half(double both)
{
    float other;
    const float one = tw_sn_f32_apart(both, &other);
    return tw_sn_f32_min(one, other);
}
#endif
