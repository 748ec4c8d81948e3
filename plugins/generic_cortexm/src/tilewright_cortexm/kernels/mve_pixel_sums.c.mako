<%doc> What one pixel is, in C. Needs widen ("s16" or "u16"), kind, suffix, stored (see mve_requant.py), multiplier (channels of
the result for each of x), several (part of names). </%doc>\
#include "mve.h"
#include "mve_pixel.h"

#ifndef TW_MVE_ARM
/* `channels` are those of a group. */
TW_KERNEL void tw_mve_pixel_${widen}${several}${suffix}(const tw_mve_pixel *b, int32_t channels, int32_t taps, int32_t low, int32_t high)
{
    for (int32_t c = 0; c < (channels * b->groups); ++c) {
        const int32_t group = c / 8;
        const int32_t lane = c % 8;
        const int32_t *const p = b->parameters + (${8 + 8 * stored} * group) + (lane % 2 * 4) + (lane / 2);
        int32_t sum = p[0];
% if kind == "float":
        float scale;
% endif
        for (int32_t tap = 0; tap < taps; ++tap) {
            const uintptr_t at = b->base + b->table[tap] + (uintptr_t)${f"(c / {multiplier})" if multiplier > 1 else "c"};
            const int32_t v = *(const ${"uint8_t" if widen == "u16" else "int8_t"} *)at;
            sum += v * b->w[(((group * taps) + tap) * channels) + lane];
        }
% if kind == "twice":
        b->y[c] = (uint8_t)tw_mve_requant_twice(sum, p[8], p[16], b->zero_point, low, high);
% elif kind == "shift":
        b->y[c] = (uint8_t)tw_mve_requant_shift(sum, p[8], p[16], p[24], b->zero_point, low, high);
% else:
        memcpy(&scale, p + 8, sizeof scale);
        b->y[c] = (uint8_t)tw_mve_requant(sum, scale, b->zero_point, low, high);
% endif
    }
}
#endif
