<%doc>
The products of values that follow one another with the weights of four channels, on a core without the DSP extension.
Needs block (the function's name), unroll (values in a turn, fours), unit ("v6m" or "v7m"), signed, x_type, w_type.

Registers: r0 values, r1 weights, r4 to r7 sums; r2 a weight and r3 a value on v6m with the end in lr; r8 to r11 weights and
r12 a value on v7m with the end in r3.
</%doc>\
#include "assembler.h"
#include "prelude.h"
#include <stdint.h>

<%def name="line(instruction)">
        "${instruction}\n\t"\
</%def>\
/* Adds to four sums what ${f"{unroll}s" if unroll > 1 else "all"} of values up to `end` make of the weights beside each other. */
#if defined(${"__ARM_ARCH_6M__" if unit == "v6m" else "__thumb2__"})
TW_ASSEMBLER void ${block}(const ${x_type} *x __attribute__((unused)), const ${w_type} *w __attribute__((unused)),
        uint32_t *sums __attribute__((unused)), const ${x_type} *end __attribute__((unused)))
{
    __asm__ volatile(".syntax unified\n\t"\
% if unit == "v6m":
${line("push {r2, r4-r7, lr}")}\
${line("mov lr, r3")}\
${line("ldmia r2!, {r4-r7}")}\
${line("1:")}\
% for number in range(unroll):
${line(f"ldrb r3, [r0, #{number}]")}\
% if signed:
${line("sxtb r3, r3")}\
% endif
% for channel in range(4):
${line(f"ldrb r2, [r1, #{4 * number + channel}]")}\
${line("muls r2, r3")}\
${line(f"adds r{4 + channel}, r2")}\
% endfor
% endfor
${line(f"adds r0, #{unroll}")}\
${line(f"adds r1, #{4 * unroll}")}\
${line("cmp r0, lr")}\
${line("bne 1b")}\
${line("ldr r2, [sp]")}\
${line("stmia r2!, {r4-r7}")}\
${line("pop {r2, r4-r7, pc}")} ::: "memory");
% else:
${line("push {r2, r4-r11, lr}")}\
${line("ldmia r2, {r4-r7}")}\
${line("1:")}\
% for number in range(unroll):
${line(f"{'ldrsb' if signed else 'ldrb'} r12, [r0, #{number}]")}\
% for channel in range(4):
${line(f"ldrsb r{8 + channel}, [r1, #{4 * number + channel}]")}\
% endfor
% for channel in range(4):
${line(f"mla r{4 + channel}, r{8 + channel}, r12, r{4 + channel}")}\
% endfor
% endfor
${line(f"adds r0, #{unroll}")}\
${line(f"adds r1, #{4 * unroll}")}\
${line("cmp r0, r3")}\
${line("bne 1b")}\
${line("ldr r2, [sp]")}\
${line("stmia r2, {r4-r7}")}\
${line("pop {r2, r4-r11, pc}")} ::: "memory");
% endif
}
#else
static void ${block}(const ${x_type} *x, const ${w_type} *w, uint32_t *sums, const ${x_type} *end)
{
    for (; x < end; ++x) {
        for (int32_t c = 0; c < 4; ++c) {
            sums[c] += (uint32_t)(*x * *w);
            ++w;
        }
    }
}
#endif
