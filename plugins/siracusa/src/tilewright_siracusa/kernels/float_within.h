#pragma once
#include "xpulp.h"
#include "prelude.h"
#include <stdint.h>

/* The bits of a float without its sign, which are in the order of magnitudes. */
TW_KERNEL int32_t tw_xp_f32_magnitude(float value)
{
    const union { float number; int32_t word; } bits = {.number = value};
    return bits.word & INT32_C(0x7fffffff);
}

/* Whether the magnitudes of all elements are from `least` to `most`: no NaN is. */
TW_KERNEL int tw_xp_f32_within(int32_t count, const float *x, int32_t step, float least, float most)
{
    int32_t low = tw_xp_f32_magnitude(least);
    int32_t high = tw_xp_f32_magnitude(most);
    int32_t left = count;
#ifdef TW_XP_ASM
    if (count >= 2) {
        left = count & 1;
        __asm__ volatile(
            TW_XP_LOOP(8)
            TW_XP_LW_BY(t3, %[x], %[by])
            TW_XP_LW_BY(t4, %[x], %[by])
            TW_XP_AND(t3, t3, %[mask])
            TW_XP_AND(t4, t4, %[mask])
            TW_XP_MIN(%[low], %[low], t3)
            TW_XP_MAX(%[high], %[high], t3)
            TW_XP_MIN(%[low], %[low], t4)
            TW_XP_MAX(%[high], %[high], t4)
            TW_XP_LOOP_END
            : [x] "+&r"(x), [low] "+&r"(low), [high] "+&r"(high)
            : [trips] "r"(count / 2), [by] "r"(4 * step), [mask] "r"(INT32_C(0x7fffffff))
            : "memory", "t3", "t4");
    }
#endif
    for (; left > 0; --left) {
        const int32_t magnitude = tw_xp_f32_magnitude(*x);
        low = (magnitude < low) ? magnitude : low;
        high = (magnitude > high) ? magnitude : high;
        x += step;
    }
    return (low == tw_xp_f32_magnitude(least)) && (high == tw_xp_f32_magnitude(most));
}
