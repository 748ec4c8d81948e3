<%doc>
The assembler of one row of four channels of a depthwise 3x3, made of TW_DSP_ROW_BEGIN and dsp_row_products.c.mako. Needs
stride (of columns), end (part of the name), fixed, exact, twice (which forms occur), shift, low, high.
</%doc>\
#include "dsp_requant.h"
#include "dsp_row.h"

<%
    narrow = "ssat" if low < 0 else "usat"
    full = (low, high) in ((-128, 127), (0, 255))
    sums = ["r10", "r11"] if stride == 1 else ["r10"]
    forms = (["fixed"] if fixed else []) + (["exact"] if exact else []) + (["twice"] if twice else [])
%>\
<%def name="text(part)">\
 ${"\\"}
    ${part}\
</%def>\
<%def name="line(instruction)">\
${text(f'"{instruction}' + r'\n\t"')}\
</%def>\
<%def name="requantise(form)">\
% if form == "fixed":
${line("ldrd r12, r3, [sp, #4]")}\
% for sum in sums:
${text(f"TW_DSP_FIXED({sum}, r12, r3, {narrow if full else 'ssat'}, {8 if full else 16}, shift)")}\
% endfor
% elif form == "twice":
${line("ldrd r12, r3, [sp, #4]")}\
${line("ldr lr, [sp, #24]")}\
% for sum in sums:
${text(f"TW_DSP_{'ONCE' if shift else 'TWICE'}({sum}, r12, r3, lr, {narrow if full else 'ssat'}, {8 if full else 16}, shift)")}\
% endfor
% else:
${line("ldr r3, [sp, #8]")}\
% for sum in sums:
${text(f"TW_DSP_EXACT({sum}, r3, {narrow if full else 'ssat'}, {8 if full else 16})")}\
% endfor
% endif
% if not full:
% for sum in sums:
% for bound, relation in ((low, "lt"), (high, "gt")):
${line(f"cmp {sum}, #{bound}")}\
${line(f"it {relation}")}\
${line(f"mov{relation} {sum}, #{bound}")}\
% endfor
% endfor
% endif
</%def>\
<%def name="results(form)">\
% if form != "twice":
${line(f"ldr r12, [r11, #{28 if form == 'fixed' else 32}]")}\
${line("str r12, [sp, #8]")}\
% endif
% if form == "exact":
${line("vldr s1, [sp, #4]")}\
${line("vabs.f32 s1, s1")}\
% endif
% if stride == 2:
${line("ldr r11, [sp, #12]")}\
% endif
${line("cmp r0, r2")}\
${line(f"beq 3{'0' if form == 'exact' else ''}f")}\
${line(f"2{'0' if form == 'exact' else ''}:")}\
${text(f"TW_DSP_ROW_S{stride}_PRODUCTS")}\
${requantise(form)}\
% if stride == 1:
${line("ldr lr, [sp, #12]")}\
${line("strb r11, [r1, lr]")}\
${line("strb r10, [r1]")}\
${line("add r1, r1, lr, lsl #1")}\
% else:
${line("strb r10, [r1]")}\
${line("add r1, r1, r11")}\
% endif
${line("adds r0, #12")}\
${line("cmp r0, r2")}\
${line(f"bne 2{'0' if form == 'exact' else ''}b")}\
${line(f"3{'0' if form == 'exact' else ''}:")}\
% if stride == 1:
${line("ldr r12, [sp, #16]")}\
${line("ldr r3, [r12, #20]")}\
${line("ldr lr, [sp, #12]")}\
${line("ands r3, lr")}\
${line("beq 4f")}\
${line("movs r3, #0")}\
${line("str r3, [sp, #12]")}\
${line("add r2, r0, #12")}\
${line(f"b 2{'0' if form == 'exact' else ''}b")}\
% else:
${line("b 4f")}\
% endif
</%def>\
#ifdef TW_DSP_ARM
/* `shift` is that of the upper half of what SMMLA computes */
#define TW_DSP_ROW_S${stride}_${end}(shift)\
${text(f"TW_DSP_ROW_BEGIN{'_TWICE' if twice else ''}")}\
% if len(forms) > 1:
${line("cmp r12, #0")}\
${line("blt 10f")}\
% endif
% for form in forms:
% if len(forms) > 1 and form == "exact":
${line("10:")}\
% endif
${results(form)}\
% endfor
${line("4:")}\
${line("ldr r3, [sp, #20]")}\
${line("subs r3, #1")}\
${line("str r3, [sp, #20]")}\
${line("bne 1b")}\
${line(f"add sp, #{32 if twice else 24}")}\
${line("pop {r4-r11, pc}")}
#endif
