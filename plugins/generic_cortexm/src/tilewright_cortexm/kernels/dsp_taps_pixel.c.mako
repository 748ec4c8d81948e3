<%doc> Needs pixel (the function's name), widen ("i8" or "u8"), taps, unroll, twice, requantise, multiplier (channels of the
result for each of x: 1, 2 or 4), several (part of names). </%doc>\
#include "dsp_halves.h"

/* One pixel, four channels at a time. Weights and parameters are those of the four channels in turn. */
static void ${pixel}(uintptr_t base, const uintptr_t *table, const uint32_t *w, const int32_t *parameters,
        uint8_t *y, int32_t channels, int32_t above, int32_t zero_point)
{
    for (int32_t group = 0; group < channels; group += 4) {
        const int32_t back = ((group + 4) <= channels) ? 0 : (group + 4 - channels); /* the last four again */
        const uintptr_t *at = table;
        base -= (uintptr_t)back${f" / {multiplier}" if multiplier > 1 else ""};
        int32_t s0 = parameters[0];
        int32_t s1 = parameters[1];
        int32_t s2 = parameters[2];
        int32_t s3 = parameters[3];
        ${f"for (int32_t k = 0; k < {taps // unroll}; ++k) " if taps > unroll else ""}{
            uint32_t x;
            uint32_t v;
            uint32_t even;
            uint32_t odd;
#if defined(TW_DSP_ARM) && defined(__ARM_FEATURE_UNALIGNED) /* what compilers run out of registers for */
            __asm__ volatile(
% for i in range(unroll):
                TW_DSP_TAP_${widen.upper()}${several.upper()}
% endfor
                : [at] "+&r"(at), [w] "+&r"(w), [s0] "+&r"(s0), [s1] "+&r"(s1), [s2] "+&r"(s2), [s3] "+&r"(s3),
                  [x] "=&r"(x), [v] "=&r"(v), [even] "=&r"(even), [odd] "=&r"(odd)
                : [base] "r"(base) : "memory");
#else
            for (int32_t i = 0; i < ${unroll}; ++i) {
% if multiplier == 1:
                x = tw_dsp_load((const void *)(base + *at++));
                v = *w++;
                even = tw_dsp_even_i8(v);
                odd = tw_dsp_odd_i8(v);
                v = tw_dsp_odd_${widen}(x);
                x = tw_dsp_even_${widen}(x);
                s0 = tw_dsp_mlabb(x, even, s0);
                s1 = tw_dsp_mlabb(v, odd, s1);
                s2 = tw_dsp_mlatt(x, even, s2);
                s3 = tw_dsp_mlatt(v, odd, s3);
% else:
                const ${"int8_t" if widen == "i8" else "uint8_t"} *const from = (const void *)(base + *at++);
                x = (uint32_t)from[0];
                v = (uint32_t)from[${2 // multiplier}];
                even = tw_dsp_even_i8(*w);
                odd = tw_dsp_odd_i8(*w++);
                s0 = tw_dsp_mlabb(x, even, s0);
                s1 = tw_dsp_mlabb(x, odd, s1);
                s2 = tw_dsp_mlabb(v, even >> 16, s2);
                s3 = tw_dsp_mlabb(v, odd >> 16, s3);
% endif
            }
#endif
        }
        y -= back;
% for i in range(4):
        y[${i}] = ${requantise}(s${i}, \
${f"parameters[{4 + 2 * i}], parameters[{5 + 2 * i}], parameters[{12 + i}]" if twice else f"parameters[{4 + i}], above, zero_point"});
% endfor
        y += 4;
        base += ${4 // multiplier};
        parameters += ${16 if twice else 8};
    }
% if twice:
    (void)above;
    (void)zero_point;
% endif
}
