<%doc>
Needs block (the function's name), points, unroll (pairs of channels in a turn of its loop), turns (whether there is more
than one).

Registers: r0 values, r1 weights, r2, r3 and r12 values of three tiles, r4..r9 sums, r10 and r11 weights of two outputs.
With one turn lr is where sums go, and the stack has the values' end; otherwise lr counts turns, and the stack has where
sums go, the turns, and the end.
</%doc>\
<%
    sums = [f"r{number}" for number in range(4, 10)]
%>\
<%def name="line(instruction)">\
        "${instruction}\n\t"
</%def>\
<%def name="products(begins)">\
${line("ldrd r10, r11, [r1], #8")}\
${line("ldm r0!, {r2, r3, r12}")}\
% for at, total in enumerate(sums):
${line(f"smuad {total}, {('r2', 'r3', 'r12')[at // 2]}, r1{at % 2}" if begins
    else f"smlad {total}, {('r2', 'r3', 'r12')[at // 2]}, r1{at % 2}, {total}")}\
% endfor
</%def>\
#include "dsp_winograd.h"
#include "assembler.h"

/* Products of ${points} points, summed over channels, of three tiles with two outputs. */
#ifdef TW_DSP_ARM
TW_ASSEMBLER void ${block}(const uint32_t *v __attribute__((unused)), const uint32_t *u __attribute__((unused)),
        int32_t *m __attribute__((unused)), int32_t turns __attribute__((unused)))
{
    __asm__ volatile(
${line("push {r4-r11, lr}")}\
% if turns == 1:
${line(f"movw r3, #{points * unroll * 12}")}\
${line("add r3, r0")}\
${line("mov lr, r2")}\
${line("push {r3}")}\
${line("1:")}\
% for index in range(unroll):
${products(index == 0)}\
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
${products(False)}\
% endfor
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
        for (int32_t result = 0; result < 6; ++result) {
            int32_t sum = 0;
            for (int32_t pair = 0; pair < pairs; ++pair) {
                sum = tw_dsp_mlad(v[(3 * pair) + (result / 2)], u[(2 * pair) + (result % 2)], sum);
            }
            m[result] = sum;
        }
        v += 3 * pairs;
        u += 2 * pairs;
        m += 6;
    }
}
#endif
