#pragma once
#include "dsp.h"
#include "matmul.h"
#include "prelude.h"
#include <stdint.h>

/* Up to four bytes of a column of B, signed, zero after the last. */
TW_KERNEL uint32_t tw_dsp_four(const uint8_t *x, int32_t step, int32_t count, int32_t flip)
{
    const uint32_t flips = (uint32_t)flip * UINT32_C(0x01010101);
    uint32_t four = 0;
    if (count >= 4) {
        return flips ^ ((step == 1) ? tw_dsp_load(x)
            : ((uint32_t)x[0] | ((uint32_t)x[step] << 8) | ((uint32_t)x[2 * step] << 16) | ((uint32_t)x[3 * step] << 24)));
    }
    for (int32_t i = 0; i < count; ++i) {
        four |= (uint32_t)(x[i * step] ^ flip) << (8 * i);
    }
    return four;
}

/* Columns of B as the blocks take weights: four signed bytes of each column of a block in turn, zero after the last.
 * Parameters of each block: what is added to its columns' sums, then the words of each: the multiplier or scale, or
 * three, of which the first two are together (`stored`). */
static void tw_dsp_panel(const tw_arm_matmul *p, const uint8_t *b, int32_t columns, const int32_t *words,
        int32_t stored, uint32_t *w, int32_t *parameters)
{
    const int32_t groups = (p->depth + 3) / 4;
    for (int32_t n = 0; n < columns; ++n) {
        const int32_t lane = n & 1;
        const int32_t lanes = ((n | 1) < columns) ? 2 : 1;
        const uint8_t *x = b + (n * p->b_column);
        uint32_t *to = w + ((n - lane) * groups) + lane;
        int32_t sum = 0;
        for (int32_t left = p->depth; left > 0; left -= 4) {
            const uint32_t four = tw_dsp_four(x, p->b_step, left, p->b_flip);
            x += 4 * p->b_step;
            sum = tw_dsp_mlad(tw_dsp_even_i8(four), UINT32_C(0x00010001), sum);
            sum = tw_dsp_mlad(tw_dsp_odd_i8(four), UINT32_C(0x00010001), sum);
            *to = four;
            to += lanes;
        }
        int32_t *const block = parameters + ((stored + 1) * (n - lane));
        block[lane] = p->a_zero * ((p->depth * p->b_zero) - sum);
        if (stored == 1) {
            block[lanes + lane] = words[0];
        } else {
            block[lanes + (2 * lane)] = words[0];
            block[lanes + (2 * lane) + 1] = words[1];
            block[(3 * lanes) + lane] = words[2];
        }
    }
}
