<%doc>
Needs block (the function's name), dsp (whether SMLAD is there), points, unroll (pairs of channels in a turn of its loop), turns (whether there is more
than one).

Registers: r0 values, r1 weights, r2, r3 and r12 values of three tiles, r4..r9 sums, r10 and r11 weights of two outputs.
With one turn lr is where sums go, and the stack has the values' end; otherwise lr counts turns, and the stack has where
sums go, the turns, and the end.
</%doc>\
<%
    sums = [f"r{number}" for number in range(4, 10)]
    values = ("r2", "r3", "r12")
    once = dsp and turns == 1
%>\
<%def name="line(instruction)">\
        "${instruction}\n\t"
</%def>\
<%def name="products(index, begins)">\
% if dsp:
${line("ldrd r10, r11, [r1], #8")}\
${line("ldm r0!, {r2, r3, r12}")}\
% for at, total in enumerate(sums):
${line(f"smuad {total}, {values[at // 2]}, r1{at % 2}" if begins
    else f"smlad {total}, {values[at // 2]}, r1{at % 2}, {total}")}\
% endfor
% else:
% for half in (0, 2):
% for at, value in enumerate(values):
${line(f"ldrsh {value}, [r0, #{12 * index + 4 * at + half}]")}\
% endfor
% for at in range(2):
${line(f"ldrsh r1{at}, [r1, #{8 * index + 4 * at + half}]")}\
% endfor
% for at, total in enumerate(sums):
${line(f"mla {total}, {values[at // 2]}, r1{at % 2}, {total}")}\
% endfor
% endfor
% endif
</%def>\
#include "dsp_winograd.h"
#include "assembler.h"

/* Products of ${points} points, summed over channels, of three tiles with two outputs. */
${"#ifdef TW_DSP_ARM" if dsp else "#ifdef __thumb2__"}
TW_ASSEMBLER void ${block}(const uint32_t *v __attribute__((unused)), const uint32_t *u __attribute__((unused)),
        int32_t *m __attribute__((unused)), int32_t turns __attribute__((unused)))
{
    __asm__ volatile(
${line("push {r4-r11, lr}")}\
% if once:
${line(f"movw r3, #{points * unroll * 12}")}\
${line("add r3, r0")}\
${line("mov lr, r2")}\
${line("push {r3}")}\
${line("1:")}\
% for index in range(unroll):
${products(index, index == 0)}\
% endfor
${line("stm lr!, {r4-r9}")}\
${line("ldr r2, [sp]")}\
${line("cmp r0, r2")}\
${line("bne 1b")}\
${line("add sp, #4")}\
% else:
${line(f"movw r12, #{points * unroll * 12}")}\
${line("mla r12, r3, r12, r0")}\
${line("push {r2, r3, r12}")}\
${line("1:")}\
% for total in sums:
${line(f"mov {total}, #0")}\
% endfor
${line("ldr lr, [sp, #4]")}\
${line("2:")}\
% for index in range(unroll):
${products(index, False)}\
% endfor
% if not dsp:
${line(f"add r0, #{12 * unroll}")}\
${line(f"add r1, #{8 * unroll}")}\
% endif
${line("subs lr, #1")}\
${line("bne 2b")}\
${line("ldr r2, [sp]")}\
${line("ldr r3, [sp, #8]")}\
${line("stm r2!, {r4-r9}")}\
${line("str r2, [sp]")}\
${line("cmp r0, r3")}\
${line("bne 1b")}\
${line("add sp, #12")}\
% endif
        "pop {r4-r11, pc}" ::: "memory");
}
#else
static void ${block}(const uint32_t *v, const uint32_t *u, int32_t *m, int32_t turns)
{
    const int32_t pairs = ${unroll} * turns;
    for (int32_t point = 0; point < ${points}; ++point) {
        for (int32_t tile = 0; tile < 3; ++tile) {
            const uint32_t *x = v + tile;
            const uint32_t *w = u;
            int32_t first = 0;
            int32_t second = 0;
            for (int32_t pair = 0; pair < pairs; ++pair) {
                const int32_t low = tw_dsp_low_half(*x);
                const int32_t high = tw_dsp_high_half(*x);
                first = tw_dsp_added(first, tw_dsp_low_half(w[0]) * low);
                second = tw_dsp_added(second, tw_dsp_low_half(w[1]) * low);
                first = tw_dsp_added(first, tw_dsp_high_half(w[0]) * high);
                second = tw_dsp_added(second, tw_dsp_high_half(w[1]) * high);
                x += 3;
                w += 2;
            }
            m[2 * tile] = first;
            m[(2 * tile) + 1] = second;
        }
        v += 3 * pairs;
        u += 2 * pairs;
        m += 6;
    }
}
#endif
