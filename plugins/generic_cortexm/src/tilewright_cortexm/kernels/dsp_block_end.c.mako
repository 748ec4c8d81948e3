<%doc>
The assembler of blocks of one shape after the products: the sums are requantised and stored. Needs what
dsp_block_text.c.mako needs, and end (part of the name), fixed, exact, twice (which forms occur), shift, low, high.
</%doc>\
#include "dsp_block.h"
#include "dsp_requant.h"

<%
    sums = [[f"r{4 + p * channels + c}" for c in range(channels)] for p in range(pixels)]
    pairs = [list(range(c, min(c + 2, channels))) for c in range(0, channels, 2)]
    narrow = "ssat" if low < 0 else "usat"
    full = (low, high) in ((-128, 127), (0, 255))
    width = 8 if full else 16
%>\
<%def name="text(part)">\
 ${"\\"}
    ${part}\
</%def>\
<%def name="line(instruction)">\
${text(f'"{instruction}' + r'\n\t"')}\
</%def>\
<%def name="clamp(register)">\
% if not full:
% for bound, relation in ((low, "lt"), (high, "gt")):
${line(f"cmp {register}, #{bound}")}\
${line(f"it {relation}")}\
${line(f"mov{relation} {register}, #{bound}")}\
% endfor
% endif
</%def>\
#ifdef TW_DSP_ARM
/* `shift` is that of the upper half of what SMMLA computes */
#define TW_DSP_${shape}_END_${end}(shift)\
${line("ldr r2, [sp, #4]")}\
${line("cmp r0, r2")}\
${line("bne 2b")}\
${line("ldr r2, [sp, #12]")}\
% for pair in pairs if nibbles else ():
% for p in range(pixels):
% if len(pair) == 2:
${line(f"sub {sums[p][pair[1]]}, {sums[p][pair[1]]}, {sums[p][pair[0]]}")}\
% endif
${line(f"asr {sums[p][pair[-1]]}, {sums[p][pair[-1]]}, #4")}\
% endfor
% endfor
% for pair in pairs if paired else ():
% for p in range(pixels if len(pair) == 2 else 0):
${line(f"sub {sums[p][pair[1]]}, {sums[p][pair[1]]}, {sums[p][pair[0]]}")}\
${line(f"asr {sums[p][pair[1]]}, {sums[p][pair[1]]}, #8")}\
% endfor
% endfor
% for pair in pairs if twice else ():
% for c, registers in zip(pair, ("r10, r12", "r11, lr")):
${line(f"ldrd {registers}, [r2, #{4 * (channels + 2 * c)}]")}\
% endfor
% if len(pair) == 2:
${line(f"ldrd r0, r3, [r2, #{4 * (3 * channels + pair[0])}]")}\
% else:
${line(f"ldr r0, [r2, #{4 * (3 * channels + pair[0])}]")}\
% endif
% for c, registers in zip(pair, ("r10, r12, r0", "r11, lr, r3")):
% for p in range(pixels):
${text(f"TW_DSP_{'ONCE' if shift else 'TWICE'}({sums[p][c]}, {registers}, {narrow if full else 'ssat'}, {width}, shift)")}\
% endfor
% endfor
% endfor
% for pair in () if twice else pairs:
% if len(pair) == 2:
${line(f"ldrd r10, r11, [r2, #{4 * (channels + pair[0])}]")}\
% else:
${line(f"ldr r10, [r2, #{4 * (channels + pair[0])}]")}\
% endif
% if fixed and exact:
${line(f"cmp r10, #0")}\
${line(f"blt 3f")}\
% endif
% if fixed:
${line("ldr r3, [sp, #28]")}\
% for at, c in enumerate(pair):
% for p in range(pixels):
${text(f"TW_DSP_FIXED({sums[p][c]}, r{10 + at}, r3, {narrow if full else 'ssat'}, {width}, shift)")}\
% endfor
% endfor
% endif
% if fixed and exact:
${line(f"b 4f")}\
${line(f"3:")}\
% endif
% if exact:
${line("ldr r3, [sp, #32]")}\
% for at, c in enumerate(pair):
${line(f"vmov s1, r{10 + at}")}\
${line("vabs.f32 s1, s1")}\
% for p in range(pixels):
${text(f"TW_DSP_EXACT({sums[p][c]}, r3, {narrow if full else 'ssat'}, {width})")}\
% endfor
% endfor
% endif
% if fixed and exact:
${line(f"4:")}\
% endif
% endfor
% for c in range(channels):
% for p in range(pixels):
${clamp(sums[p][c])}\
% endfor
% endfor
${line(f"adds r2, #{(16 if twice else 8) * channels}")}\
${line("str r2, [sp, #12]")}\
${line("ldr r2, [sp, #16]")}\
% if pixels == 1:
% for c in range(channels):
${line(f"strb {sums[0][c]}, [r2], #1")}\
% endfor
% else:
${line("ldr r3, [sp, #20]")}\
% for c in range(channels):
${line(f"strb {sums[1][c]}, [r2, r3]")}\
% if pixels > 2:
${line(f"strb {sums[2][c]}, [r2, r3, lsl #1]")}\
% endif
${line(f"strb {sums[0][c]}, [r2], #1")}\
% endfor
% endif
${line("str r2, [sp, #16]")}\
${line("ldr r2, [sp, #24]")}\
${line("subs r2, #1")}\
${line("str r2, [sp, #24]")}\
${line("bne 1b")}\
${line(f"add sp, #{40 if more else 36}")}\
${line("pop {r4-r11, pc}")}
#endif
