<%doc> What blocks of values of 16 bits compute, in C. Needs products (the function's name), kind (see mve_words.py). </%doc>\
#include "dsp_words.h"
#include "mve.h"
#include "mve_block.h"

#ifndef TW_MVE_ARM
/* `count` values of every pixel in eights, with a `jump` of bytes behind each `run` of them, then `rest` more. */
TW_KERNEL void ${products}(const tw_mve_block *b, int32_t pixels, int32_t channels, int32_t count, int32_t run,
        int32_t jump, int32_t rest, int32_t low, int32_t high)
{
    const int8_t *w = b->w;
    for (int32_t i = 0; i < b->blocks; ++i) {
        const int32_t *const p = b->parameters + (${16 if kind == "high" else 8} * i);
        const int8_t *const x[2] = {b->x, b->other};
        for (int32_t result = 0; result < (pixels * channels); ++result) {
            const int32_t j = result / channels;
            const int32_t c = result % channels;
            int32_t sum = p[c];
            for (int32_t k = 0; k < (count + rest); ++k) {
                int16_t v;
                memcpy(&v, x[j] + (2 * k) + ((k < count) ? (k / run * jump) : 0), sizeof v);
                sum += v * w[(k < count) ? ((((k / 8 * channels) + c) * 8) + (k % 8))
                    : ((count * channels) + (c * rest) + (k - count))];
            }
% if kind == "high":
            const int32_t v = tw_dsp_mmla(sum, p[4 + c], p[8 + c]) >> -p[12 + c];
            const int16_t y = (int16_t)((v < low) ? low : ((v > high) ? high : v));
% else:
            const int16_t y = (int16_t)tw_dsp_words_exact((float)sum, p[4 + c], b->zero_point, low, high);
% endif
            memcpy(b->y + (j * b->apart) + (8 * i) + (2 * c), &y, sizeof y);
        }
        w += (count + rest) * channels;
    }
}
#endif
