<%doc>
Needs kind: "ss" or "us", whether the bytes of x are signed, or "hh", halves.
</%doc>\
#include "xpulp.h"
<% ones = "TW_XP_ONES_H" if kind == "hh" else "TW_XP_ONES" %>\
<% instruction = {"ss": "SDOTSP", "us": "SDOTUSP", "hh": "SDOTSP_H"}[kind] %>\
% for pixels in (2, 1):
<%
    sums, starts, values = (names[:pixels] for names in (["s0", "s1"], ("t1", "t3"), ("a6", "a7")))
    fetch = [f"TW_XP_LW({start}, %[runs], 4)" for start in starts]
    body = [f"TW_XP_LW({value}, {start}, 4)" for value, start in zip(values, starts)]
    body += [f"TW_XP_{instruction}(%[{s}], {value}, %[ones])" for s, value in zip(sums, values)]
%>\
/* Adds up the values of ${"two pixels" if pixels == 2 else "one pixel"}, runs and words as `dot` has them. */
TW_KERNEL void tw_xp_totals${pixels}_${kind}(int32_t count, const uint8_t *const *runs, int32_t words, int32_t *totals)
{
% for i, s in enumerate(sums):
    int32_t ${s} = 0;
% endfor
#ifdef TW_XP_ASM
    __asm__ volatile(
% for line in fetch:
        ${line}
% endfor
        TW_XP_LOOPS(${len(body)}, ${len(fetch)})
% for line in (*body, *fetch):
        ${line}
% endfor
        TW_XP_LOOP_END
        : ${", ".join(f'[{s}] "+&r"({s})' for s in sums)}, [runs] "+&r"(runs)
        : [outer] "r"(count), [inner] "r"(words), [ones] "r"(${ones})
        : "memory", ${", ".join(f'"{register}"' for register in (*starts, *values))});
#else
    for (int32_t run = 0; run < count; ++run) {
        for (int32_t i = 0; i < words; ++i) {
% for i, s in enumerate(sums):
            ${s} = tw_xp_sdot_${kind}(${s}, tw_xp_load(runs[${added(f"({times(pixels, 'run')})" if pixels > 1 else "run", i)}] + (4 * i)), ${ones});
% endfor
        }
    }
#endif
% for i, s in enumerate(sums):
    totals[${i}] = ${s};
% endfor
}

% endfor
