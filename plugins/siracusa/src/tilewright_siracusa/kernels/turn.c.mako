<%doc>
Needs kind (see dot.c), weighted (a filter for every channel; else all weights are 1).

Four taps of one channel are a word once they are turned (turned.c), and the dot product of bytes adds them up.
</%doc>\
#include "turned.h"

<%
    from itertools import product
    instruction = {"ss": "SDOTSP", "us": "SDOTUSP"}[kind]
    # Words of four taps are in t1, t3, t4, t5; the four channels' words come to be in `turned`.
    turned = ["t3", "t1", "t5", "t6"]
    turning = ["TW_XP_MV(t6, t1)", "TW_XP_SHUFFLE2(t1, t3, %[even])", "TW_XP_MV(a6, t4)"]
    turning += ["TW_XP_SHUFFLE2(t4, t5, %[even])", "TW_XP_SHUFFLE2(t6, t3, %[odd])", "TW_XP_SHUFFLE2(a6, t5, %[odd])"]
    turning += ["TW_XP_PACK(t3, t4, t1)", "TW_XP_SHUFFLE2(t1, t4, %[upper])", "TW_XP_PACK(t5, a6, t6)"]
    turning += ["TW_XP_LW(t4, %[w], 4)"] if weighted else []
    turning += ["TW_XP_SHUFFLE2(t6, a6, %[upper])"]
    turning += ["TW_XP_LW(a7, %[w], 4)"] if weighted else []

    def products(pixels):
        if not weighted:
            return [f"TW_XP_{instruction}(%[s{i}], {factors}, %[ones])" for i, factors in enumerate(turned)]
        lines = []
        for channel, (factors, weights) in enumerate(zip(turned, ("t4", "a7", "t4", "a7"))):
            lines.append(f"TW_XP_{instruction}(%[s{channel}], {factors}, {weights})")
            if pixels == 2:
                lines.append(f"TW_XP_SLL({weights}, {weights}, %[shift])")
                lines.append(f"TW_XP_{instruction}(%[s{channel + 4}], {factors}, {weights})")
            if channel < 2:
                lines.append(f"TW_XP_LW({weights}, %[w], 4)")
        return lines
%>\
% for pixels, held in product((1, 2) if weighted else (1,), (1, 2, 3, 4)):
<%
    ones = f"UINT32_C(0x{0x01010101 & ((1 << 8 * held) - 1):08x})"  # what is no tap holds anything
    name = f"tw_xp_{'taps' if weighted else 'ones'}{pixels}x{held}_{kind}"
%>\

/* `rows` times the products of ${held} taps, `step` bytes apart, with four channels' weights, which are stored one after
 * the other; from the last tap of a row to the next row it is `back` bytes.${"\n * The second sums have weights `shift` bits on." if pixels == 2 else ""} */
TW_KERNEL void ${name}(int32_t rows, const uint8_t *x, int32_t step, int32_t back, \
${"const uint8_t *w, " if weighted else ""}${"int32_t shift, " if pixels == 2 else ""}int32_t *acc)
{
#ifdef TW_XP_ASM
<%
    sums = [f"s{i}" for i in range(4 * pixels)]
    body = [f"TW_XP_LW_BY({register}, %[x], %[step])" for register in ("t1", "t3", "t4", "t5")[: held - 1]]
    body += [f"TW_XP_LW_BY({('t1', 't3', 't4', 't5')[held - 1]}, %[x], %[back])"]
    body += turning
    body += products(pixels)
%>\
% for i, s in enumerate(sums):
    int32_t ${s} = acc[${i}];
% endfor
    __asm__ volatile(
        TW_XP_LOOP(${len(body)})
% for line in body:
        ${line}
% endfor
        TW_XP_LOOP_END
        : ${", ".join(f'[{s}] "+&r"({s})' for s in sums)}, [x] "+&r"(x)${', [w] "+&r"(w)' if weighted else ""}
        : [trips] "r"(rows), [step] "r"(step), [back] "r"(back),
          [even] "r"(TW_XP_EVEN), [odd] "r"(TW_XP_ODD), [upper] "r"(TW_XP_UPPER)\
${', [shift] "r"(shift)' if pixels == 2 else ""}${"" if weighted else f', [ones] "r"({ones})'}
        : "memory", "t1", "t3", "t4", "t5", "t6", "a6", "a7");
% for i, s in enumerate(sums):
    acc[${i}] = ${s};
% endfor
#else
    for (int32_t i = 0; i < rows; ++i) {
        uint32_t r[4] = {0};
        uint32_t t[4];
% if held == 1:
        r[0] = tw_xp_load(x);
        x += back;
% else:
        for (int32_t j = 0; j < ${held}; ++j) {
            r[j] = tw_xp_load(x);
            x += (j < ${held - 1}) ? step : back;
        }
% endif
        tw_xp_turn(r, t);
        for (int32_t j = 0; j < 4; ++j) {
            const uint32_t weights = ${"tw_xp_load(w + 4 * j)" if weighted else ones};
            acc[j] = tw_xp_sdot_${kind}(acc[j], t[j], weights);
% if pixels == 2:
            acc[4 + j] = tw_xp_sdot_${kind}(acc[4 + j], t[j], weights << shift);
% endif
        }
% if weighted:
        w += 16;
% endif
    }
#endif
% if held == 1:
    (void)step;
% endif
}
% endfor
<%
    name = f"tw_xp_{'taps' if weighted else 'ones'}_apart_{kind}"
    body = [f"TW_XP_LW_BY({register}, %[x{j}], %[step{j}])" for j, register in enumerate(("t1", "t3", "t4", "t5"))] + turning
    body += products(1)
%>\

/* The same for one window whose taps in a row begin at x0 to x3, and move by a step each${"" if weighted else "; outside, they are zero"}. */
TW_KERNEL void ${name}(int32_t rows, ${", ".join(f"const uint8_t *x{j}, int32_t step{j}" for j in range(4))},
        ${"const uint8_t *w, " if weighted else ""}int32_t *acc)
{
#ifdef TW_XP_ASM
% for j in range(4):
    int32_t s${j} = acc[${j}];
% endfor
    __asm__ volatile(
        TW_XP_LOOP(${len(body)})
% for line in body:
        ${line}
% endfor
        TW_XP_LOOP_END
        : ${", ".join(f'[s{j}] "+&r"(s{j})' for j in range(4))}${', [w] "+&r"(w)' if weighted else ""}, ${", ".join(f'[x{j}] "+&r"(x{j})' for j in range(4))}
        : [trips] "r"(rows), ${", ".join(f'[step{j}] "r"(step{j})' for j in range(4))},
          [even] "r"(TW_XP_EVEN), [odd] "r"(TW_XP_ODD), [upper] "r"(TW_XP_UPPER)${"" if weighted else ', [ones] "r"(UINT32_C(0x01010101))'}
        : "memory", "t1", "t3", "t4", "t5", "t6", "a6", "a7");
% for j in range(4):
    acc[${j}] = s${j};
% endfor
#else
    for (int32_t i = 0; i < rows; ++i) {
        const uint32_t r[4] = {${", ".join(f"tw_xp_load(x{j} + i * step{j})" for j in range(4))}};
        uint32_t t[4];
        tw_xp_turn(r, t);
        for (int32_t j = 0; j < 4; ++j) {
            acc[j] = tw_xp_sdot_${kind}(acc[j], t[j], ${"tw_xp_load(w + 16 * i + 4 * j)" if weighted else "UINT32_C(0x01010101)"});
        }
    }
#endif
}
