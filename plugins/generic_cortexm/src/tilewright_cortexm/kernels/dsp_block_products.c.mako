<%doc> What blocks compute, in C. Needs products (the function's name), more, bytes_of, paired, nibbles, twice. </%doc>\
#include "dsp_block.h"

#ifndef TW_DSP_ARM
TW_KERNEL void ${products}(const tw_dsp_block *b, int32_t pixels, int32_t channels, int32_t shift, int32_t low,
        int32_t high)
{
    const uint32_t *w = b->w;
    for (int32_t i = 0; i < b->blocks; ++i) {
        const int32_t *const p = b->parameters + (${4 if twice else 2} * channels * i);
        for (int32_t result = 0; result < (pixels * channels); ++result) {
            const int32_t j = result / channels;
            const int32_t c = result % channels;
            int32_t sum = p[c]${" + b->more[j]" if more else ""};
% if nibbles:
            /* a word of a pair holds a byte of both channels' weights; the lower one's nibble is unsigned */
            const int32_t lower = c & ~1;
            const int32_t pair = (lower + 1) < channels;
            int32_t both = p[pair ? (lower + 1) : lower]${" + b->more[j]" if more else ""};
            const uint32_t *v = w + (lower / 2);
            sum = pair ? (p[lower]${" + b->more[j]" if more else ""}) : 0;
            for (const uint32_t *x = b->columns${"" if bytes_of else " + j"}; x < b->end; \
x += ${"1" if bytes_of else "2 * pixels"}, v += (channels + 1) / 2) {
                const uint32_t even = ${f"tw_dsp_even_{bytes_of}(*x)" if bytes_of else "x[0]"};
                const uint32_t odd = ${f"tw_dsp_odd_{bytes_of}(*x)" if bytes_of else "x[pixels]"};
                both = tw_dsp_mlad(odd, tw_dsp_odd_i8(*v), tw_dsp_mlad(even, tw_dsp_even_i8(*v), both));
                if (pair) {
                    sum = tw_dsp_mlad(even, *v & UINT32_C(0x000f000f), sum);
                    sum = tw_dsp_mlad(odd, (*v >> 8) & UINT32_C(0x000f000f), sum);
                }
            }
            sum = (pair && (c == lower)) ? sum : tw_dsp_upper_nibble(both, sum);
% elif paired:
            /* two words of a pair hold the weights of both channels; one of the last channel alone its own */
            const int32_t lower = c & ~1;
            const int32_t pair = (lower + 1) < channels;
            int32_t both = pair ? p[lower + 1] : 0;
            const uint32_t *v = w + lower;
            sum = p[lower];
            for (const uint32_t *x = b->columns${"" if bytes_of else " + j"}; x < b->end; \
x += ${"1" if bytes_of else "2 * pixels"}) {
% if bytes_of:
                const uint32_t even = tw_dsp_even_${bytes_of}(*x);
                const uint32_t odd = tw_dsp_odd_${bytes_of}(*x);
% else:
                const uint32_t even = x[0];
                const uint32_t odd = x[pixels];
% endif
                sum = tw_dsp_mlad(even, tw_dsp_even_i8(v[0]), sum);
                sum = tw_dsp_mlad(odd, pair ? tw_dsp_even_i8(v[1]) : tw_dsp_odd_i8(v[0]), sum);
                both = pair ? tw_dsp_mlad(odd, v[1], tw_dsp_mlad(even, v[0], both)) : 0;
                v += channels;
            }
            sum = (c > lower) ? tw_dsp_upper(both, sum) : sum;
% elif bytes_of:
            const uint32_t *v = w + c;
            for (const uint32_t *x = b->columns; x < b->end; ++x) {
                sum = tw_dsp_mlad(tw_dsp_even_${bytes_of}(*x), tw_dsp_even_i8(*v), sum);
                sum = tw_dsp_mlad(tw_dsp_odd_${bytes_of}(*x), tw_dsp_odd_i8(*v), sum);
                v += channels;
            }
% else:
            const uint32_t *v = w + c;
            for (const uint32_t *x = b->columns + (2 * j); x < b->end; x += 2 * pixels) {
                sum = tw_dsp_mlad(x[0], tw_dsp_even_i8(*v), sum);
                sum = tw_dsp_mlad(x[1], tw_dsp_odd_i8(*v), sum);
                v += channels;
            }
% endif
% if twice:
            b->y[(j * b->apart) + (i * channels) + c] = (uint8_t)tw_dsp_requant_twice(sum, p[channels + (2 * c)],
                p[channels + (2 * c) + 1], p[(3 * channels) + c], shift, low, high);
% else:
            b->y[(j * b->apart) + (i * channels) + c] = (uint8_t)tw_dsp_requant(sum, p[channels + c], b->above, shift,
                b->zero_point, low, high);
% endif
        }
        w += (b->end - b->columns) / ${"1" if bytes_of else "(2 * pixels)"} * ${"((channels + 1) / 2)" if nibbles else "channels"};
    }
}
#endif
