#pragma once
#include "dsp.h"
#include "prelude.h"
#include <stdint.h>

/* The three rows of weights of one channel, as pairs (0, 1) and (1, 2), and the first two rows again. */
TW_KERNEL void tw_dsp_taps(const uint8_t *w, uint32_t *to)
{
    for (int32_t k = 0; k < 3; ++k) {
        const uint32_t v = (uint32_t)w[3 * k] | ((uint32_t)w[(3 * k) + 1] << 8) | ((uint32_t)w[(3 * k) + 2] << 16);
        const uint32_t even = tw_dsp_even_i8(v);
        const uint32_t odd = tw_dsp_odd_i8(v);
        to[2 * k] = tw_dsp_low(even, odd);
        to[(2 * k) + 1] = tw_dsp_low(odd, even >> 16);
    }
    for (int32_t k = 0; k < 4; ++k) {
        to[6 + k] = to[k];
    }
}
