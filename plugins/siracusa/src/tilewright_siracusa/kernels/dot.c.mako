<%doc>
Needs kind: "ss", "us", "su" or "uu", whether the bytes of x and of the weights are signed, or "hh", signed halves, of which
a weight holds those of two channels (see words.h); apart, whether there may be a gap behind the weights of every run;
nibbles, whether a byte of the weights holds those of two channels (see nibbles.h).
</%doc>\
#include "xpulp.h"

<%
    halves = kind == "hh"
    shared = nibbles or halves
    name = {"ss": "SDOTSP", "us": "SDOTUSP", "su": "SDOTUSP", "uu": "SDOTUP", "hh": "SDOTSP_H"}[kind]
    def product(sum, x, w):
        first, second = (w, x) if kind == "su" else (x, w)
        return f"TW_XP_{name}(%[{sum}], {first}, {second})"
    def portable(sum, x, w):
        return f"tw_xp_sdot_us({sum}, {w}, {x})" if kind == "su" else f"tw_xp_sdot_{kind}({sum}, {x}, {w})"
    def weight(channel):
        word = f"tw_xp_load({added('w', 4 * (channel // 2 if shared else channel))})"
        if not shared or channel % 2 == 0:
            return word
        return f"tw_xp_upper_bytes({word})" if halves else f"{word} & TW_XP_LOWER"
    def second(word, both):
        return f"TW_XP_SRA_H({word}, {both})" if halves else f"TW_XP_AND({word}, {both}, %[low])"
%>\
<% gap = ("_nibbles" if nibbles else "") + ("_apart" if apart else "") %>\
% for pixels in (2, 1):
<%
    sums, starts, factors = [f"s{i}" for i in range(4 * pixels)], ("t1", "t3")[:pixels], ("a6", "a7")[:pixels]
    weights = ("t4", "t5", "t6")
    fetch = [f"TW_XP_LW({start}, %[runs], 4)" for start in starts]
    leave = ["TW_XP_ADD(%[w], %[w], %[gap])"] if apart else []
    read = [f"TW_XP_LW({weights[0]}, %[w], 4)", f"TW_XP_LW({factors[0]}, {starts[0]}, 4)",
            f"TW_XP_LW({weights[1]}, %[w], 4)", *(f"TW_XP_LW({factors[1]}, {starts[1]}, 4)" for _ in starts[1:])]
    body = read if shared else [*read, f"TW_XP_LW({weights[2]}, %[w], 4)"]
    for channel in range(4):
        word = weights[(channel // 2, 2)[channel % 2]] if shared else weights[channel % 3]
        body += [second(word, weights[channel // 2])] if shared and channel % 2 else []
        body += [product(sums[4 * p + channel], factors[p], word) for p in range(pixels)]
        body += [f"TW_XP_LW({weights[0]}, %[w], 4)"] if channel == 0 and not shared else []
%>\
/* ${"Two pixels" if pixels == 2 else "One pixel"} and four channels: `count` runs of x, each of `words` words, both one at least. `runs` says where they
 * begin${", one pixel's before the other's" if pixels == 2 else ""}; what lies behind the last may be read.
 * Weights are stored in the order in which they are read${", `gap` more bytes\n * behind those of each run" if apart else ""}. */
TW_KERNEL void tw_xp_dot${pixels}_${kind}${gap}(int32_t count, const uint8_t *const *runs, int32_t words, const uint8_t *w, \
${"int32_t gap, " if apart else ""}int32_t *acc)
{
% for i, s in enumerate(sums):
    int32_t ${s} = acc[${i}];
% endfor
#ifdef TW_XP_ASM
    __asm__ volatile(
% for line in fetch:
        ${line}
% endfor
        TW_XP_LOOPS(${len(body)}, ${len(leave + fetch)})
% for line in body:
        ${line}
% endfor
% for line in leave + fetch:
        ${line}
% endfor
        TW_XP_LOOP_END
        : ${", ".join(f'[{s}] "+&r"({s})' for s in sums)}, [w] "+&r"(w), [runs] "+&r"(runs)
        : [outer] "r"(count), [inner] "r"(words)${', [low] "r"(TW_XP_LOWER)' if nibbles else ""}${', [gap] "r"(gap)' if apart else ""}
        : "memory", ${", ".join(f'"{register}"' for register in (*starts, *factors, *weights))});
#else
    for (int32_t run = 0; run < count; ++run) {
        for (int32_t i = 0; i < words; ++i) {
% for p in range(pixels):
            const uint32_t a${p} = tw_xp_load(runs[${added(f"({times(pixels, 'run')})" if pixels > 1 else "run", p)}] + (4 * i));
% endfor
% for i, s in enumerate(sums):
            ${s} = ${portable(s, f"a{i // 4}", weight(i % 4))};
% endfor
            w += ${8 if shared else 16};
        }
% if apart:
        w += gap;
% endif
    }
#endif
% for i, s in enumerate(sums):
    acc[${i}] = ${s};
% endfor
}

% endfor
