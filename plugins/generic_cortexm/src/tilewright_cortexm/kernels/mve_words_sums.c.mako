<%doc> What one pixel of 16-bit values is, in C. Needs widen, kind (see mve_words.py), suffix. </%doc>\
#include "dsp_words.h"
#include "mve.h"
#include "mve_pixel.h"

#ifndef TW_MVE_ARM
/* `channels` are those of a group. */
TW_KERNEL void tw_mve_pixel_${widen}${suffix}(const tw_mve_pixel *b, int32_t channels, int32_t taps, int32_t low, int32_t high)
{
    for (int32_t c = 0; c < (channels * b->groups); ++c) {
        const int32_t group = c / 8;
        const int32_t lane = c % 8;
        const int32_t *const p = b->parameters + (${32 if kind == "high" else 16} * group) + (lane % 2 * 4) + (lane / 2);
        int32_t sum = p[0];
        for (int32_t tap = 0; tap < taps; ++tap) {
            const uintptr_t at = b->base + b->table[tap] + (uintptr_t)(2 * c);
            int16_t v;
            memcpy(&v, (const void *)at, sizeof v);
            sum += v * b->w[(((group * taps) + tap) * channels) + lane];
        }
% if kind == "high":
        const int32_t v = tw_dsp_mmla(sum, p[8], p[16]) >> -p[24];
        const int16_t y = (int16_t)((v < low) ? low : ((v > high) ? high : v));
% else:
        const int16_t y = (int16_t)tw_dsp_words_exact((float)sum, p[8], b->zero_point, low, high);
% endif
        memcpy(b->y + (2 * c), &y, sizeof y);
    }
}
#endif
