<%doc> What blocks compute, in C. Needs products (the function's name), more, bytes_of. </%doc>\
#include "dsp_block.h"

#ifndef TW_DSP_ARM
TW_KERNEL void ${products}(const tw_dsp_block *b, int32_t pixels, int32_t channels, int32_t shift, int32_t low,
        int32_t high)
{
    const uint32_t *w = b->w;
    for (int32_t i = 0; i < b->blocks; ++i) {
        const int32_t *const p = b->parameters + (2 * channels * i);
        for (int32_t result = 0; result < (pixels * channels); ++result) {
            const int32_t j = result / channels;
            const int32_t c = result % channels;
            int32_t sum = p[c]${" + b->more[j]" if more else ""};
            const uint32_t *v = w + c;
% if bytes_of:
            for (const uint32_t *x = b->columns; x < b->end; ++x, v += channels) {
                sum = tw_dsp_mlad(tw_dsp_even_${bytes_of}(*x), tw_dsp_even_i8(*v), sum);
                sum = tw_dsp_mlad(tw_dsp_odd_${bytes_of}(*x), tw_dsp_odd_i8(*v), sum);
            }
% else:
            for (const uint32_t *x = b->columns + (2 * j); x < b->end; x += 2 * pixels, v += channels) {
                sum = tw_dsp_mlad(x[0], tw_dsp_even_i8(*v), sum);
                sum = tw_dsp_mlad(x[1], tw_dsp_odd_i8(*v), sum);
            }
% endif
            b->y[(j * b->apart) + (i * channels) + c] = (uint8_t)tw_dsp_requant(sum, p[channels + c], b->above, shift,
                b->zero_point, low, high);
        }
        w += (b->end - b->columns) / ${"1" if bytes_of else "(2 * pixels)"} * channels;
    }
}
#endif
