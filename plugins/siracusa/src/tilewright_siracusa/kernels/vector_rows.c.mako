<%doc> Needs kind ("ss" or "us", whether x is signed). </%doc>\
#include "xpulp.h"

<%
    instruction = {"ss": "SDOTSP", "us": "SDOTUSP"}[kind]
%>\
% for channels in (4, 2, 1):
<%
    name = f"tw_xp_vector{channels}_{kind}"
    sums, weights, words = ([f"{letter}{i}" for i in range(channels)] for letter in "swv")
    body = [f"TW_XP_LW(%[{v}], %[{w}], 4)" for v, w in zip(words, weights)]
    body[-1:] = ["TW_XP_LW(%[a], %[x], 4)", body[-1]] if channels > 1 else [body[-1], "TW_XP_LW(%[a], %[x], 4)"]
    body += [f"TW_XP_{instruction}(%[{s}], %[a], %[{v}])" for s, v in zip(sums, words)]
%>\
/* ${channels} channel${"s" if channels > 1 else ""} of one row: `words` words of x, one at least, with each channel's row of weights. */
TW_KERNEL void ${name}(int32_t words, const uint8_t *x, const uint8_t *w, int32_t row, int32_t *acc)
{
% for i, s in enumerate(sums):
    int32_t ${s} = acc[${i}];
% endfor
#ifdef TW_XP_ASM
    const uint8_t ${", ".join(f"*{w} = {added('w', times(i, 'row'))}" for i, w in enumerate(weights))};
    uint32_t a, ${", ".join(words)};
    __asm__ volatile(
        TW_XP_LOOP(${len(body)})
% for line in body:
        ${line}
% endfor
        TW_XP_LOOP_END
        : ${", ".join(f'[{s}] "+&r"({s}), [{w}] "+&r"({w}), [{v}] "=&r"({v})' for s, w, v in zip(sums, weights, words))},
          [x] "+&r"(x), [a] "=&r"(a)
        : [trips] "r"(words)
        : "memory");
% if channels == 1:
    (void)row;
% endif
#else
    for (int32_t i = 0; i < words; ++i) {
        const uint32_t a = tw_xp_load(x + (4 * i));
% for i, s in enumerate(sums):
        ${s} = tw_xp_sdot_${kind}(${s}, a, tw_xp_load(w + ${f"(({times(i, 'row')}) + (4 * i))" if i > 1 else "(row + (4 * i))" if i else "(4 * i)"}));
% endfor
    }
% if channels == 1:
    (void)row;
% endif
#endif
% for i, s in enumerate(sums):
    acc[${i}] = ${s};
% endfor
}

% endfor
