<%doc>
The products of the columns of some pixels with the weights of one channel, on a core without the DSP extension. A column
is a word for every value, and the words of the pixels alternate. Needs block (the function's name), pixels (1 to 5), unroll
(values in a turn, fours), unit ("v6m" or "v7m"), w_type.

Registers: r0 columns, r1 weights, r2 a weight, r3 (lr on v6m) the end. The values of one pixel come in fours, of two in
pairs, of more one by one. On v6m the products take the place of the values, and sums are in upper registers.
</%doc>\
#include "assembler.h"
#include "prelude.h"
#include <stdint.h>

<%
    v6m = unit == "v6m"
    values = max(1, 4 // pixels if pixels < 4 else 1) if pixels < 3 else 1
    first = 3 if v6m else 4
    loaded = [f"r{first + n}" for n in range(values * pixels)]
    sums = (["r7"] if pixels == 1 else ["r8", "r9", "r10", "r11", "r12"]) if v6m else ["r9", "r10", "r11", "r12", "lr"]
    sums = sums[:pixels]
    moved = v6m and pixels > 1
    saved = sums[:4] if moved else []
    low = [f"r{first + n}" for n in range(pixels)] if moved else sums
    kept = [f"r{4 + n}" for n in range(len(saved))]
    listed = lambda names: "{" + ", ".join(names) + "}"
%>\
<%def name="line(instruction)">
        "${instruction}\n\t"\
</%def>\
/* sums[0 .. ${pixels - 1}] are what there is before; ${f"the {pixels} after them" if pixels > 1 else "the one after it is"} what there is then. */
#if defined(${"__ARM_ARCH_6M__" if v6m else "__thumb2__"})
TW_ASSEMBLER void ${block}(const int32_t *columns __attribute__((unused)),
        const ${w_type} *w __attribute__((unused)), int32_t *sums __attribute__((unused)),
        const int32_t *end __attribute__((unused)))
{
    __asm__ volatile(".syntax unified\n\t"\
% if v6m:
${line("push {r2, r4-r7, lr}")}\
% for to, register in zip(kept, saved):
${line(f"mov {to}, {register}")}\
% endfor
% if saved:
${line(f"push {listed(kept)}")}\
% endif
${line("mov lr, r3")}\
% else:
${line("push {r2, r4-r11, lr}")}\
% endif
${line(f"ldmia r2!, {listed(low)}")}\
% for to, register in zip(sums, low) if moved else ():
${line(f"mov {to}, {register}")}\
% endfor
${line("1:")}\
% for number in range(unroll):
% if number % values == 0:
${line(f"ldmia r0!, {listed(loaded)}")}\
% endif
${line(f"ldrb r2, [r1, #{number}]" if v6m else "ldrsb r2, [r1], #1")}\
% for sum, value in zip(sums, loaded[number % values * pixels :][:pixels]):
% if v6m:
${line(f"muls {value}, r2")}\
${line(f"{'add' if moved else 'adds'} {sum}, {value}")}\
% else:
${line(f"mla {sum}, {value}, r2, {sum}")}\
% endif
% endfor
% endfor
% if v6m:
${line(f"adds r1, #{unroll}")}\
% endif
${line(f"cmp r0, {'lr' if v6m else 'r3'}")}\
${line("bne 1b")}\
${line(f"ldr r2, [sp, #{4 * len(saved)}]")}\
${line(f"adds r2, #{4 * pixels}")}\
% for to, register in zip(low, sums) if moved else ():
${line(f"mov {to}, {register}")}\
% endfor
${line(f"stmia r2!, {listed(low)}")}\
% if v6m:
% if saved:
${line(f"pop {listed(kept)}")}\
% endif
% for to, register in zip(saved, kept):
${line(f"mov {to}, {register}")}\
% endfor
${line("pop {r2, r4-r7, pc}")} ::: "memory");
% else:
${line("pop {r2, r4-r11, pc}")} ::: "memory");
% endif
}
#else
static void ${block}(const int32_t *columns, const ${w_type} *w, int32_t *sums, const int32_t *end)
{
% if pixels == 1:
    uint32_t sum = (uint32_t)sums[0];
    for (const int32_t *x = columns; x < end; ++x) {
        sum += (uint32_t)(*x * *w);
        ++w;
    }
    sums[1] = (int32_t)sum;
% else:
    for (int32_t j = 0; j < ${pixels}; ++j) {
        uint32_t sum = (uint32_t)sums[j];
        const ${w_type} *with = w;
        for (const int32_t *x = columns; x < end; x += ${pixels}) {
            sum += (uint32_t)(x[j] * *with);
            ++with;
        }
        sums[${pixels} + j] = (int32_t)sum;
    }
% endif
}
#endif
