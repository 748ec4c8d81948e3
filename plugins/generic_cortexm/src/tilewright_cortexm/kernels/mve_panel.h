#pragma once
#include "matmul.h"
#include "mve.h"
#include "prelude.h"
#include <stdint.h>

/* The sum of `count` signed bytes. */
TW_KERNEL int32_t tw_mve_total(const int8_t *x, int32_t count)
{
    int32_t sum = 0;
#ifdef TW_MVE_ARM
    __asm__ volatile(
        "wlstp.8 lr, %[count], 2f\n\t"
        "1:\n\t"
        "vldrb.u8 q0, [%[x]], #16\n\t"
        "vaddva.s8 %[sum], q0\n\t"
        "letp lr, 1b\n\t"
        "2:"
        : [x] "+&r"(x), [sum] "+&Te"(sum) : [count] "r"(count) : "lr", "q0", "cc", "memory");
#else
    for (int32_t i = 0; i < count; ++i) {
        sum += x[i];
    }
#endif
    return sum;
}

/* Up to sixteen bytes that lie `step` bytes apart, each xor `flip`. */
TW_KERNEL void tw_mve_spread(int8_t *to, const uint8_t *x, int32_t step, int32_t count, int32_t flip)
{
#ifdef TW_MVE_ARM
    const int32_t eight = 8 * step;
    int32_t lane = 0;
    __asm__ volatile(
        "vidup.u16 q1, %[lane], #1\n\t"
        "vmul.i16 q1, q1, %[step]\n\t"
        "vdup.16 q2, %[flip]\n\t"
        "wlstp.16 lr, %[count], 2f\n\t"
        "1:\n\t"
        "vldrb.u16 q0, [%[x], q1]\n\t"
        "veor q0, q0, q2\n\t"
        "vstrb.16 q0, [%[to]], #8\n\t"
        "add %[x], %[x], %[eight]\n\t"
        "letp lr, 1b\n\t"
        "2:"
        : [to] "+&l"(to), [x] "+&r"(x), [lane] "+&Te"(lane)
        : [step] "r"(step), [eight] "r"(eight), [count] "r"(count), [flip] "r"(flip)
        : "lr", "q0", "q1", "q2", "cc", "memory");
#else
    for (int32_t i = 0; i < count; ++i) {
        to[i] = (int8_t)((x[i * step] ^ flip) & 255);
    }
#endif
}

/* `count` bytes of a row or column, `step` bytes apart, signed and zero up to the next sixteen; sixteen of them every
 * `apart` bytes. Returns their sum. */
TW_KERNEL int32_t tw_mve_gather(const uint8_t *x, int32_t step, int32_t count, int32_t flip, int8_t *to, int32_t apart)
{
    int32_t sum = 0;
    for (int32_t k = 0; k < count; k += 16) {
        const int32_t most = ((count - k) < 16) ? (count - k) : 16;
        if (step == 1) {
            tw_mve_copy(to, x, most, flip);
        } else {
            tw_mve_spread(to, x, step, most, flip);
        }
        for (int32_t i = most; i < 16; ++i) {
            to[i] = 0;
        }
        sum += tw_mve_total(to, most);
        x += 16 * step;
        to += apart;
    }
    return sum;
}

/* Columns of B as the blocks take weights: sixteen signed bytes of each column of a block in turn, zero after the
 * last. Parameters of each block: what is added to its columns' sums, then for each column all `stored` of `words`. */
static void tw_mve_panel(const tw_arm_matmul *p, const uint8_t *b, int32_t columns, int32_t a_zero,
        const int32_t *words, int32_t stored, int8_t *w, int32_t *parameters)
{
    const int32_t room = (p->depth + 15) / 16 * 16;
    for (int32_t n = 0; n < columns; ++n) {
        const int32_t first = n & ~3;
        const int32_t lanes = ((columns - first) < 4) ? (columns - first) : 4;
        const int32_t sum = tw_mve_gather(b + (n * p->b_column), p->b_step, p->depth, p->b_flip,
            w + (first * room) + ((n - first) * 16), lanes * 16);
        int32_t *const to = parameters + (stored * first) + n;
        to[0] = a_zero * ((p->depth * p->b_zero) - sum);
        for (int32_t k = 0; k < stored; ++k) {
            to[4 * (k + 1)] = words[k];
        }
    }
}
