#pragma once
#include "xpulp.h"

/* Which of the engine's results a core copies to their place. */
typedef struct {
    int32_t rows;
    int32_t columns;
    int32_t outputs;
    int32_t sum_column; /* bytes from the pixel of one output to the next */
    int32_t sum_row;
    int32_t y_column;
    int32_t y_row;
} tw_neureka_picked;

TW_KERNEL void tw_neureka_pick(tw_neureka_picked p, const uint8_t *results, uint8_t *y)
{
    for (int32_t i = 0; i < p.rows; ++i) {
        for (int32_t j = 0; j < p.columns; ++j) {
            const uint8_t *from = results + ((i * p.sum_row) + (j * p.sum_column));
            uint8_t *to = y + ((i * p.y_row) + (j * p.y_column));
            int32_t left = p.outputs;
#ifdef TW_XP_ASM
            if (left >= 4) {
                int32_t word;
                __asm__ volatile(
                    TW_XP_LOOP(2)
                    TW_XP_LW(%[word], %[from], 4)
                    TW_XP_SW_BY(%[word], %[to], %[step])
                    TW_XP_LOOP_END
                    : [word] "=&r"(word), [from] "+&r"(from), [to] "+&r"(to)
                    : [trips] "r"(left >> 2), [step] "r"(4)
                    : "memory");
                left &= 3;
            }
#endif
            tw_xp_copy(to, from, left);
        }
    }
}
