#pragma once
#include "assembler.h"
#include "prelude.h"
#include <stdint.h>

/* What Helium does better than compilers know, and the same in C. Unoptimised code (-O0) is C throughout: it keeps a
 * register for the frame, and assembly that needs all others would not compile. */

#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2) && defined(__OPTIMIZE__)
#  define TW_MVE_ARM 1
/* `count` bytes, any number of them, each xor `flip` (0 or 128). Returns the end of what was written. */
TW_KERNEL int8_t *tw_mve_copy(int8_t *to, const void *from, int32_t count, int32_t flip)
{
    int8_t *at = to;
    const uint8_t *x = from;
    __asm__ volatile(
        "vdup.8 q1, %3\n\t"
        "wlstp.8 lr, %2, 2f\n\t"
        "1:\n\t"
        "vldrb.u8 q0, [%1], #16\n\t"
        "veor q0, q0, q1\n\t"
        "vstrb.8 q0, [%0], #16\n\t"
        "letp lr, 1b\n\t"
        "2:"
        : "+&r"(at), "+&r"(x) : "r"(count), "r"(flip) : "lr", "q0", "q1", "cc", "memory");
    return to + count;
}

TW_KERNEL int8_t *tw_mve_fill(int8_t *to, int32_t value, int32_t count)
{
    int8_t *at = to;
    __asm__ volatile(
        "vdup.8 q0, %2\n\t"
        "wlstp.8 lr, %1, 2f\n\t"
        "1:\n\t"
        "vstrb.8 q0, [%0], #16\n\t"
        "letp lr, 1b\n\t"
        "2:"
        : "+&r"(at) : "r"(count), "r"(value) : "lr", "q0", "cc", "memory");
    return to + count;
}
#else
TW_KERNEL int8_t *tw_mve_copy(int8_t *to, const void *from, int32_t count, int32_t flip)
{
    const uint8_t *const x = from;
    for (int32_t i = 0; i < count; ++i) {
        to[i] = (int8_t)((x[i] ^ flip) & 255);
    }
    return to + count;
}

TW_KERNEL int8_t *tw_mve_fill(int8_t *to, int32_t value, int32_t count)
{
    for (int32_t i = 0; i < count; ++i) {
        to[i] = (int8_t)value;
    }
    return to + count;
}
#endif

/* clamp(rne(acc * scale) + zero_point, low, high) */
TW_KERNEL int32_t tw_mve_requant(int32_t acc, float scale, int32_t zero_point, int32_t low, int32_t high)
{
    const float product = (float)acc * scale;
    const float v = (product < -1024.0f) ? -1024.0f : ((product > 1024.0f) ? 1024.0f : product);
    const int32_t whole = (int32_t)v;
    const float rest = v - (float)whole;
    const int32_t odd = whole & 1;
    const int32_t up = (rest > 0.5f) || ((rest == 0.5f) && odd);
    const int32_t down = (rest < -0.5f) || ((rest == -0.5f) && odd);
    const int32_t q = whole + up - down + zero_point;
    return (q < low) ? low : ((q > high) ? high : q);
}
