#pragma once
#include "turned.h"
#include "windows.h"
#include "xpulp.h"
#include "prelude.h"
#include <stdint.h>

/* A strip is what neighbouring windows read of four channels: for every row of the input, eight neighbouring taps of
 * one channel after the other. Four columns of the input are turned at a time. */
#define TW_XP_STRIP_ROW 32
/* Rows of a strip: above the input, inside it, below it. */
typedef struct {
    int32_t above;
    int32_t inside;
    int32_t below;
} tw_xp_strip_rows;

/* Rows first to first + count - 1. */
TW_KERNEL tw_xp_strip_rows tw_xp_strip_rows_at(const tw_xp_windows *p, int32_t first, int32_t count)
{
    const int32_t start = tw_xp_taps_before(first, count, 1, 0);
    const int32_t stop = tw_xp_taps_before(first, count, 1, p->in_rows);
    const tw_xp_strip_rows rows = {.above = start, .inside = stop - start, .below = count - stop};
    return rows;
}

/* Rows of padding. */
TW_KERNEL void tw_xp_strip_padded(int32_t rows, uint32_t padding, uint8_t *strip)
{
    for (; rows > 0; --rows) {
        for (int32_t i = 0; i < 4; ++i) {
            tw_xp_store(strip + (8 * i), padding);
        }
        strip += TW_XP_STRIP_ROW;
    }
}

/* Fills four columns of a strip, of which `taps` are read, from column `left` on; `x` is the first row inside. Of
 * `lanes` channels, where they are less than four, the four bytes that end with the last may be read if there are some
 * `before`. */
TW_XP_APART void tw_xp_strip_fill(const tw_xp_windows *p, const tw_xp_strip_rows *rows, int32_t left, int32_t taps, int32_t lanes,
        int32_t before, const uint8_t *x, uint8_t *strip)
{
    const uint32_t padding[2] = {p->padding, p->padding};
    const uint8_t *const pad = (const uint8_t *)(padding + 1);
    const int32_t next = p->column_dilation;
    const int32_t columns = p->in_columns;
    const int32_t first = left * p->x_column;
    const int32_t move = next * p->x_column;
    int32_t inside = rows->inside;
    const int32_t in0 = (left >= 0) && (left < columns);
    const int32_t in1 = (taps > 1) && ((left + next) >= 0) && ((left + next) < columns);
    const int32_t in2 = (taps > 2) && ((left + (2 * next)) >= 0) && ((left + (2 * next)) < columns);
    const int32_t in3 = (taps > 3) && ((left + (3 * next)) >= 0) && ((left + (3 * next)) < columns);
    const uint8_t *from0 = in0 ? (x + first) : pad;
    const uint8_t *from1 = in1 ? (x + (first + move)) : pad;
    const uint8_t *from2 = in2 ? (x + (first + (2 * move))) : pad;
    const uint8_t *from3 = in3 ? (x + (first + (3 * move))) : pad;
    const int32_t step0 = in0 ? p->x_row : 0;
    const int32_t step1 = in1 ? p->x_row : 0;
    const int32_t step2 = in2 ? p->x_row : 0;
    const int32_t step3 = in3 ? p->x_row : 0;
    tw_xp_strip_padded(rows->above, p->padding, strip);
    strip += rows->above * TW_XP_STRIP_ROW;
    tw_xp_strip_padded(rows->below, p->padding, strip + (inside * TW_XP_STRIP_ROW));
    if (lanes < 4) {
        const int32_t back = before ? (4 - lanes) : 0;
        for (; inside > 0; --inside) {
            const uint8_t *const from[4] = {from0, from1, from2, from3};
            uint32_t r[4];
            uint32_t t[4];
            for (int32_t j = 0; j < 4; ++j) {
                r[j] = back ? (tw_xp_load(from[j] - back) >> (8 * back)) : tw_xp_load_lanes(from[j], lanes);
            }
            tw_xp_turn(r, t);
            for (int32_t j = 0; j < 4; ++j) {
                tw_xp_store(strip + (8 * j), t[j]);
            }
            from0 += step0;
            from1 += step1;
            from2 += step2;
            from3 += step3;
            strip += TW_XP_STRIP_ROW;
        }
        return;
    }
    if (inside > 0) {
#ifdef TW_XP_ASM
        __asm__ volatile(
            TW_XP_LOOP(19)
            TW_XP_LW_BY(t1, %[from0], %[step0])
            TW_XP_LW_BY(t3, %[from1], %[step1])
            TW_XP_LW_BY(t4, %[from2], %[step2])
            TW_XP_LW_BY(t5, %[from3], %[step3])
            TW_XP_MV(t6, t1)
            TW_XP_MV(a6, t4)
            TW_XP_SHUFFLE2(t1, t3, %[even])
            TW_XP_SHUFFLE2(t4, t5, %[even])
            TW_XP_SHUFFLE2(t6, t3, %[odd])
            TW_XP_SHUFFLE2(a6, t5, %[odd])
            TW_XP_PACK(t3, t4, t1)
            TW_XP_SHUFFLE2(t1, t4, %[upper])
            TW_XP_PACK(t5, a6, t6)
            TW_XP_SHUFFLE2(t6, a6, %[upper])
            "sw t3, 0(%[strip])\n\t"
            "sw t1, 8(%[strip])\n\t"
            "sw t5, 16(%[strip])\n\t"
            "sw t6, 24(%[strip])\n\t"
            "addi %[strip], %[strip], 32\n\t"
            TW_XP_LOOP_END
            : [from0] "+&r"(from0), [from1] "+&r"(from1), [from2] "+&r"(from2), [from3] "+&r"(from3), [strip] "+&r"(strip)
            : [trips] "r"(inside), [step0] "r"(step0), [step1] "r"(step1), [step2] "r"(step2), [step3] "r"(step3),
              [even] "r"(TW_XP_EVEN), [odd] "r"(TW_XP_ODD), [upper] "r"(TW_XP_UPPER)
            : "memory", "t1", "t3", "t4", "t5", "t6", "a6");
#else
        for (; inside > 0; --inside) {
            const uint32_t r[4] = {tw_xp_load(from0), tw_xp_load(from1), tw_xp_load(from2), tw_xp_load(from3)};
            uint32_t t[4];
            tw_xp_turn(r, t);
            for (int32_t j = 0; j < 4; ++j) {
                tw_xp_store(strip + (8 * j), t[j]);
            }
            from0 += step0;
            from1 += step1;
            from2 += step2;
            from3 += step3;
            strip += TW_XP_STRIP_ROW;
        }
#endif
    }
}
