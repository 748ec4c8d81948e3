#pragma once
#include "mve.h"
#include <stdint.h>

/* What a run of signed bytes makes of lower nibbles that are 8 too large: -8 times their sum. */
TW_KERNEL int32_t tw_mve_nibble_offset(const int8_t *x, int32_t count)
{
    int32_t sum = 0;
#ifdef TW_MVE_ARM
    int32_t steps = count / 32;
    int32_t rest = count % 32;
    __asm__ volatile(
        "wls lr, %[steps], 2f\n\t"
        "1:\n\t"
        "vldrb.u8 q0, [%[x]], #16\n\t"
        "vldrb.u8 q1, [%[x]], #16\n\t"
        "vaddva.s8 %[sum], q0\n\t"
        "vaddva.s8 %[sum], q1\n\t"
        "le lr, 1b\n\t"
        "2:\n\t"
        "wlstp.8 lr, %[rest], 4f\n\t"
        "3:\n\t"
        "vldrb.u8 q0, [%[x]], #16\n\t"
        "vaddva.s8 %[sum], q0\n\t"
        "letp lr, 3b\n\t"
        "4:"
        : [x] "+&l"(x), [sum] "+&Te"(sum) : [steps] "r"(steps), [rest] "r"(rest) : "lr", "q0", "q1", "cc", "memory");
#else
    for (int32_t i = 0; i < count; ++i) {
        sum += x[i];
    }
#endif
    return -8 * sum;
}

/* The same of `rows` runs, from each of which the next one is `step` bytes away. */
TW_KERNEL int32_t tw_mve_nibble_offset_rows(const int8_t *x, int32_t count, int32_t step, int32_t rows)
{
    int32_t sum = 0;
    for (int32_t i = 0; i < rows; ++i) {
        sum += tw_mve_nibble_offset(x + (i * step), count);
    }
    return sum;
}
