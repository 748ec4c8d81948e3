<%doc>
The assembler of blocks of one shape: what comes before the products, and four values of every column with every row of
weights. What is made of the sums is in dsp_block_end.c.mako. Needs shape (part of the names), pixels, channels, more,
bytes_of, paired (see dsp_pairs.py; then the columns' words alternate), nibbles (see dsp_nibbles.py; so they do, too).

Registers: r0 columns, r1 weights, r2 and r3 four widened values, r4..r9 sums, r10 to r12 and lr weights.
Stack: the fields of tw_dsp_block in their order, up to zero_point; with `more`, what columns differ by, then where the
struct is.
</%doc>\
#include "dsp_block.h"

<%
    sums = [[f"r{4 + p * channels + c}" for c in range(channels)] for p in range(pixels)]
    pairs = [list(range(c, min(c + 2, channels))) for c in range(0, channels, 2)]
    apart = (paired or nibbles) and pixels > 1
    values = ["r2", "r3", "r12"][:pixels]
    loads = {1: "ldr r10, [r1], #4", 2: "ldrd r10, r11, [r1], #8"}
%>\
<%def name="line(instruction)">\
 ${"\\"}
    "${instruction}\n\t"\
</%def>\
#ifdef TW_DSP_ARM
#define TW_DSP_${shape}_BEGIN\
${line("push {r4-r11, lr}")}\
% if more:
${line("push {r0}")}\
% endif
${line("ldmia r0, {r1-r9}")}\
${line("push {r1-r9}")}\
${line("mov r1, r3")}\
${line("1:")}\
${line("ldr r2, [sp, #12]")}\
% for pair in pairs:
% if len(pair) == 2:
${line(f"ldrd {sums[0][pair[0]]}, {sums[0][pair[1]]}, [r2, #{4 * pair[0]}]")}\
% else:
${line(f"ldr {sums[0][pair[0]]}, [r2, #{4 * pair[0]}]")}\
% endif
% endfor
% if more:
${line("ldr r12, [sp, #36]")}\
% endif
% for p in reversed(range(pixels)):
% if more:
${line(f"ldr r10, [r12, #{36 + 4 * p}]")}\
% endif
% for c in range(channels):
% if more:
${line(f"add {sums[p][c]}, {sums[0][c]}, r10")}\
% elif p:
${line(f"mov {sums[p][c]}, {sums[0][c]}")}\
% endif
% endfor
% endfor
${line("ldr r0, [sp]")}\
${line("2:")}

/* four values of every column */
#define TW_DSP_${shape}_FOUR\
% if bytes_of:
${line("ldr r3, [r0], #4")}\
${line(f"{'sxtb16' if bytes_of == 'i8' else 'uxtb16'} r2, r3")}\
${line(f"{'sxtb16' if bytes_of == 'i8' else 'uxtb16'} r3, r3, ror #8")}\
% elif pixels == 1:
${line("ldrd r2, r3, [r0], #8")}\
% endif
% if nibbles:
${line(loads[len(pairs)])}\
% for word, pair in zip(("r10", "r11"), pairs):
% for at, turn in enumerate(("", ", ror #8")):
<% factors, both, lower = (values, "lr", "r11") if pixels > 1 else (("r2", "r3")[at : at + 1], "r12", "lr") %>\
% if pixels > 1:
${line(f"ldm r0!, {{{', '.join(values)}}}")}\
% endif
${line(f"sxtb16 {both}, {word}{turn}")}\
% if len(pair) == 2:
${line(f"and {lower}, {both}, #0x000f000f")}\
% endif
% for p, x in enumerate(factors):
% for c, weight in zip(pair, (lower, both) if len(pair) == 2 else (both,)):
${line(f"smlad {sums[p][c]}, {x}, {weight}, {sums[p][c]}")}\
% endfor
% endfor
% endfor
% endfor
% endif
% for pair in () if nibbles else pairs:
${line(loads[len(pair)])}\
% if apart:
% if len(pair) == 1:
${line("sxtb16 lr, r10")}\
${line("sxtb16 r10, r10, ror #8")}\
% endif
% for word in ("r10", "r11") if len(pair) == 2 else ("lr", "r10"):
${line(f"ldm r0!, {{{', '.join(values)}}}")}\
% if len(pair) == 2:
${line(f"sxtb16 lr, {word}")}\
% endif
% for p, x in enumerate(values):
% for c, weight in zip(pair, ("lr", word) if len(pair) == 2 else (word,)):
${line(f"smlad {sums[p][c]}, {x}, {weight}, {sums[p][c]}")}\
% endfor
% endfor
% endfor
% elif paired and len(pair) == 2:
${line("sxtb16 r12, r10")}\
${line("sxtb16 lr, r11")}\
% for x, weights in (("r2", ("r12", "r10")), ("r3", ("lr", "r11"))):
% for c, weight in zip(pair, weights):
${line(f"smlad {sums[0][c]}, {x}, {weight}, {sums[0][c]}")}\
% endfor
% endfor
% else:
% for at, c in enumerate(pair):
${line(f"sxtb16 {('r12', 'lr')[at]}, {('r10', 'r11')[at]}")}\
${line(f"sxtb16 {('r10', 'r11')[at]}, {('r10', 'r11')[at]}, ror #8")}\
% endfor
% for p in range(pixels):
% if pixels > 1:
${line("ldrd r2, r3, [r0], #8")}\
% endif
% for x, first in (("r2", ("r12", "lr")), ("r3", ("r10", "r11"))):
% for at, c in enumerate(pair):
${line(f"smlad {sums[p][c]}, {x}, {first[at]}, {sums[p][c]}")}\
% endfor
% endfor
% endfor
% endif
% endfor

#endif
