<%doc>
The assembler of blocks of one shape in parts, that of a trip of the inner loop among them. What is made of the sums is in
mve_block_end.c.mako. Needs shape (part of the names), pixels, channels, more, words (values have 16 bits: a step is of eight,
whose weights are widened as they are read), nibbles (see mve_nibbles.py;
then q4 is 15 in every byte, and q5 and q6 are what is added to the sums of each pixel at their end).

Registers: r1 and r3 values, r5 weights, r9 parameters, r7 results, r11 counts; even ones are sums (VMLADAV demands it).
Stack: the fields of tw_mve_block in their order, up to zero_point; with `more`, what pixels differ by, then where the
struct is.
</%doc>\
#include "mve.h"
#include "mve_block.h"

<%
    sums = [["r0", "r2", "r4", "r6"], ["r8", "r10", "r12", "lr"]]
    values = ["r1", "r3"]
    count = '" #count "'
    bits, load, load_some = ("16", "vldrh.u16", "vldrht.u16") if words else ("8", "vldrb.s8", "vldrbt.s8")
    weights_of, step, step_name = ("s16", 8, "eight") if words else ("s8", 16, "sixteen")
    pairs = [list(range(c, min(c + 2, channels))) for c in range(0, channels, 2)]
%>\
<%def name="line(instruction)">\
 ${"\\"}
    "${instruction}\n\t"\
</%def>\
<%def name="nibbles_of(pair)">\
% if len(pair) == 2:
${line("vand q3, q2, q4")}\
% endif
% for p in range(pixels):
% for c, weights in zip(pair, ("q3", "q2") if len(pair) == 2 else ("q2",)):
${line(f"vmladava.s8 {sums[p][c]}, q{p}, {weights}")}\
% endfor
% endfor
</%def>\
#ifdef TW_MVE_ARM
#define TW_MVE_${shape}_BEGIN\
${line("push {r4-r11, lr}")}\
% if nibbles:
${line("vpush {d8-d13}")}\
${line("vmov.i8 q4, #15")}\
${line("ldrd r10, r11, [r0, #36]")}\
% for p, offset in enumerate(("r10", "r11")[:pixels]):
${line(f"vmov.i32 q{5 + p}, #0")}\
% if channels == 4:
${line(f"vmov q{5 + p}[2], q{5 + p}[0], {offset}, {offset}")}\
% elif channels > 1:
${line(f"vmov.32 q{5 + p}[0], {offset}")}\
% endif
% endfor
% endif
% if more:
${line("push {r0}")}\
% endif
${line("ldmia r0, {r1-r9}")}\
${line("push {r1-r9}")}\
${line("mov r7, r5")}\
${line("mov r5, r3")}\
${line("mov r9, r4")}\
${line("1:")}\
${line("ldrd r1, r3, [sp]")}\
${line("ldrd r0, r2, [r9], #8")}\
${line("ldrd r4, r6, [r9], #8")}\
% for p in reversed(range(pixels)):
% if more:
${line("ldr r11, [sp, #36]")}\
${line(f"ldr r11, [r11, #{36 + 4 * p}]")}\
% endif
% for c in range(channels):
% if more:
${line(f"add {sums[p][c]}, {sums[0][c]}, r11")}\
% elif p:
${line(f"mov {sums[p][c]}, {sums[0][c]}")}\
% endif
% endfor
% endfor

/* the inner loop: `sixteens` is what a trip computes */
#define TW_MVE_${shape}_LOOP(sixteens) ${"\\"}
    "ldr r11, [sp, #28]\n\t" ${"\\"}
    "2:\n\t" ${"\\"}
    sixteens ${"\\"}
    "subs r11, #1\n\t" ${"\\"}
    "bne 2b\n\t"

/* ${step_name} values of every pixel */
#define TW_MVE_${shape}_SIXTEEN\
% for p in range(pixels):
${line(f"{load} q{p}, [{values[p]}], #16")}\
% endfor
% for pair in pairs if nibbles else ():
${line("vldrb.s8 q2, [r5], #16")}\
${nibbles_of(pair)}\
% endfor
% for c in () if nibbles else range(channels):
${line(f"vldrb.{weights_of} q{2 + c % 2}, [r5], #{step}")}\
% for p in range(pixels):
${line(f"vmladava.s{bits} {sums[p][c]}, q{p}, q{2 + c % 2}")}\
% endfor
% endfor

/* the last values of every pixel, less than ${step_name} */
#define TW_MVE_${shape}_LAST(count)\
${line(f"mov r11, #{count}")}\
${line(f"vctp.{bits} r11")}\
${line("vpst" + "t" * (pixels - 1))}\
% for p in range(pixels):
${line(f"{load_some} q{p}, [{values[p]}]")}\
% endfor
% for at, pair in enumerate(pairs if nibbles else ()):
${line("vpst")}\
${line(f"vldrbt.s8 q2, [r5, #{at}*{count}]")}\
${nibbles_of(pair)}\
% endfor
% for c in () if nibbles else range(channels):
${line("vpst")}\
${line(f"vldrbt.{weights_of} q{2 + c % 2}, [r5, #{c}*{count}]")}\
% for p in range(pixels):
${line(f"vmladava.s{bits} {sums[p][c]}, q{p}, q{2 + c % 2}")}\
% endfor
% endfor
${line(f"add r5, #{len(pairs) if nibbles else channels}*{count}")}\

#endif
