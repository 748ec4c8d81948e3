<%doc>
Needs block (the function's name), pixels (1, or 3 of which all taps are inside), stride (of these), clip ("none", "low"
or "both"), fours (whether there are four channels), rest (channels beyond fours).

Registers: r0 values, r4 weights, from r1 and r2 on; r3 and r5..r7 distances, r8 runs that are left, r9 taps of one, or
from result to result, r10 results, r11 biases, r12 channels that are left, lr taps that are left; s0..s11 sums,
s12..s23 weights, s24..s27 values, s28..s31 products. Stack: runs, low, high.
</%doc>\
<%
    rows = list(range(pixels))
    columns = 1 if pixels == 1 else (pixels - 1) * stride + 3
    def registers(first, count):
        return [f"s{first + k}" for k in range(count)]
    def listed(first, count):
        return "{" + ", ".join(registers(first, count)) + "}"
%>\
<%def name="line(instruction)">\
        "${instruction}\n\t"
</%def>\
<%def name="tap(p, weight, count)">\
% if count == 4:
${line("products " + ", ".join(registers(4 * p, 4) + registers(24, 4) + registers(weight, 4)))}\
% else:
% for k in range(count):
${line(f"product s{4 * p + k}, s{24 + k}, s{weight + k}")}\
% endfor
% endif
</%def>\
<%def name="limit(relation, at, count)">\
${line(f"vldr s24, [sp, #{at}]")}\
${line(".irp sum, " + ", ".join(total for p in rows for total in registers(4 * p, count)))}\
${line("vcmpe.f32 \\\\sum, s24")}\
${line("vmrs APSR_nzcv, fpscr")}\
${line(f"it {relation}")}\
${line(f"vmov{relation}.f32 \\\\sum, s24")}\
${line(".endr")}\
</%def>\
<%def name="channels(count)">\
${line("mov r0, r1")}\
${line("mov r4, r2")}\
${line("vldmia r11!, {s0-s3}")}\
% for p in rows[1:]:
% for k in range(count):
${line(f"vmov.f32 s{4 * p + k}, s{k}")}\
% endfor
% endfor
${line("ldr r8, [sp, #4]")}\
${line("2:")}\
% if pixels == 1:
${line("movs lr, r9")}\
${line("beq 4f")}\
${line("3:")}\
${line("vldmia r4!, {s12-s15}")}\
${line(f"vldmia r0, {listed(24, count)}")}\
${line("add r0, r5")}\
${tap(0, 12, count)}\
${line("subs lr, #1")}\
${line("bne 3b")}\
${line("4:")}\
${line("add r4, r7")}\
% else:
${line("vldmia r4!, {s12-s23}")}\
% for column in range(columns):
${line(f"vldmia r0, {listed(24, count)}")}\
${line("add r0, r5")}\
% for p in rows:
% if 0 <= column - p * stride < 3:
${tap(p, 12 + 4 * (column - p * stride), count)}\
% endif
% endfor
% endfor
% endif
${line("add r0, r6")}\
${line("subs r8, #1")}\
${line("bne 2b")}\
% if clip != "none":
${limit("mi", 8, count)}\
% endif
% if clip == "both":
${limit("gt", 12, count)}\
% endif
${line(f"vstmia r10, {listed(0, count)}")}\
% for p in rows[1:]:
${line(f"add lr, {'r10' if p == 1 else 'lr'}, r9")}\
${line(f"vstmia lr, {listed(4 * p, count)}")}\
% endfor
</%def>\
#include "assembler.h"
#include "fpu_depthwise.h"
#include "fpu_products.h"

/* Sums over taps of ${"one pixel" if pixels == 1 else f"{pixels} neighbours"}, four channels at a time. */
#ifdef TW_FPU_ARM
TW_ASSEMBLER void ${block}(tw_float_block *b __attribute__((unused)))
{
    __asm__ volatile(TW_FPU_BEGIN
${line("push {r4-r11, lr}")}\
${line("ldrd r10, r11, [r0, #52]")}\
${line("vpush {s16-s31}")}\
${line("push {r10, r11}")}\
${line("ldrd r8, r9, [r0, #32]")}\
${line("push {r7, r8}")}\
${line("ldrd r6, r7, [r0, #44]")}\
${line("ldrd r11, r10, [r0, #16]")}\
${line("ldr r12, [r0, #28]")}\
${line("ldrd r2, r3, [r0, #8]")}\
% if pixels > 1:
${line("ldr r9, [r0, #24]")}\
% endif
${line("ldrd r1, r5, [r0]")}\
% if columns > 3:
${line(f"mov lr, #{columns - 3}")}\
${line("mls r6, r5, lr, r6")}\
% endif
% if fours:
% if rest:
${line(f"sub r12, #{rest}")}\
% endif
${line("1:")}\
${channels(4)}\
${line("add r10, #16")}\
${line("add r1, #16")}\
${line("add r2, r3")}\
${line("subs r12, #4")}\
${line("bgt 1b")}\
% endif
% if rest:
${channels(rest)}\
% endif
${line("add sp, #16")}\
${line("vpop {s16-s31}")}\
        "pop {r4-r11, pc}\n\t" TW_FPU_END ::: "memory");
}
#else
static void ${block}(tw_float_block *b)
{
% if pixels == 1:
    tw_float_taps(b);
% else:
    tw_fpu_neighbours(b, ${pixels}, ${stride});
% endif
}
#endif
