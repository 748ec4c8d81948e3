<%doc>
Needs pixel (the function's name), widen ("i8" or "u8"), taps, unroll, group_channels and group_outputs (both in fours), twice,
requantise.
</%doc>\
#include "dsp_halves.h"

/* One pixel, four outputs of a group at a time, of four of its channels after four. Weights are a word of each of the
 * four outputs for every tap; parameters those of the four outputs in turn. */
static void ${pixel}(uintptr_t base, const uintptr_t *table, const uint32_t *w, const int32_t *parameters,
        uint8_t *y, int32_t channels, int32_t above, int32_t zero_point)
{
    for (int32_t output = 0; output < channels; output += 4) {
        int32_t s0 = parameters[0];
        int32_t s1 = parameters[1];
        int32_t s2 = parameters[2];
        int32_t s3 = parameters[3];
% if group_channels > 4:
        for (int32_t four = 0; four < ${group_channels // 4}; ++four) {
% else:
        {
% endif
            const uintptr_t *at = table;
            ${f"for (int32_t k = 0; k < {taps // unroll}; ++k) " if taps > unroll else ""}{
                uint32_t x;
                uint32_t v;
                uint32_t even;
                uint32_t odd;
#if defined(TW_DSP_ARM) && defined(__ARM_FEATURE_UNALIGNED) /* what compilers run out of registers for */
                __asm__ volatile(
% for i in range(unroll):
                    TW_DSP_GROUP_TAP_${widen.upper()}
% endfor
                    : [at] "+&r"(at), [w] "+&r"(w), [s0] "+&r"(s0), [s1] "+&r"(s1), [s2] "+&r"(s2), [s3] "+&r"(s3),
                      [x] "=&r"(x), [v] "=&r"(v), [even] "=&r"(even), [odd] "=&r"(odd)
                    : [base] "r"(base) : "memory");
#else
                for (int32_t i = 0; i < ${unroll}; ++i) {
                    x = tw_dsp_load((const void *)(base + *at++));
                    v = tw_dsp_odd_${widen}(x);
                    x = tw_dsp_even_${widen}(x);
% for c in range(4):
                    even = tw_dsp_even_i8(w[${c}]);
                    odd = tw_dsp_odd_i8(w[${c}]);
                    s${c} = tw_dsp_mlad(v, odd, tw_dsp_mlad(x, even, s${c}));
% endfor
                    w += 4;
                }
#endif
            }
% if group_channels > 4:
            base += 4;
% endif
        }
% for i in range(4):
        y[${i}] = ${requantise}(s${i}, \
${f"parameters[{4 + 2 * i}], parameters[{5 + 2 * i}], parameters[{12 + i}]" if twice else f"parameters[{4 + i}], above, zero_point"});
% endfor
        y += 4;
        parameters += ${16 if twice else 8};
% if group_channels == 4 and group_outputs == 4:
        base += 4;
% elif group_channels == 4:
        base += (((output + 4) % ${group_outputs}) == 0) ? 4 : 0;
% elif group_outputs > 4:
        base -= (((output + 4) % ${group_outputs}) == 0) ? 0 : ${group_channels};
% endif
    }
% if twice:
    (void)above;
    (void)zero_point;
% endif
}
