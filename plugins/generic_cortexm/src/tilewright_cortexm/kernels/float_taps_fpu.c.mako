<%doc>
Needs block (the function's name), clip ("none", "low" or "both"), tail (whether channels do not come in fours).

Registers: r0 values, r4 weights, from r1 and r2 on; r3 and r5..r7 distances, r8 runs that are left, r9 taps of one, r10
results, r11 biases, r12 channels that are left, lr taps that are left; s0..s3 sums, s16..s19 values, s24..s27 weights,
s28..s31 products. Stack: runs, low, high.
</%doc>\
<% sums = [f"s{o}" for o in range(4)] %>\
<%def name="line(instruction)">\
        "${instruction}\n\t"
</%def>\
<%def name="limit(relation, at)">\
${line(f"vldr s16, [sp, #{at}]")}\
${line(".irp sum, " + ", ".join(sums))}\
${line("vcmpe.f32 \\\\sum, s16")}\
${line("vmrs APSR_nzcv, fpscr")}\
${line(f"it {relation}")}\
${line(f"vmov{relation}.f32 \\\\sum, s16")}\
${line(".endr")}\
</%def>\
<%def name="some(instruction, first, base)">\
${line(f"{instruction} s{first}, [{base}]")}\
${line("cmp r12, #2")}\
${line("it ge")}\
${line(f"{instruction}ge s{first + 1}, [{base}, #4]")}\
${line("it gt")}\
${line(f"{instruction}gt s{first + 2}, [{base}, #8]")}\
${line("cmp r12, #3")}\
${line("it gt")}\
${line(f"{instruction}gt s{first + 3}, [{base}, #12]")}\
</%def>\
#include "assembler.h"
#include "float_depthwise.h"
#include "float_fpu.h"

/* Sums over taps of one pixel, four channels at a time. */
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
${line("ldrd r1, r5, [r0]")}\
${line("1:")}\
${line("mov r0, r1")}\
${line("mov r4, r2")}\
${line("vldmia r11!, {s0-s3}")}\
${line("ldr r8, [sp, #4]")}\
${line("2:")}\
${line("movs lr, r9")}\
${line("beq 4f")}\
${line("3:")}\
% if tail:
${some("vldr", 16, "r0")}\
% else:
${line("vldmia r0, {s16-s19}")}\
% endif
${line("vldmia r4!, {s24-s27}")}\
${line("add r0, r5")}\
${line("products s0, s1, s2, s3, s16, s17, s18, s19")}\
${line("subs lr, #1")}\
${line("bne 3b")}\
${line("4:")}\
${line("add r0, r6")}\
${line("add r4, r7")}\
${line("subs r8, #1")}\
${line("bne 2b")}\
% if clip != "none":
${limit("mi", 8)}\
% endif
% if clip == "both":
${limit("gt", 12)}\
% endif
% if tail:
${some("vstr", 0, "r10")}\
${line("add r10, #16")}\
% else:
${line("vstmia r10!, {s0-s3}")}\
% endif
${line("add r1, #16")}\
${line("add r2, r3")}\
${line("subs r12, #4")}\
${line("bgt 1b")}\
${line("add sp, #16")}\
${line("vpop {s16-s31}")}\
        "pop {r4-r11, pc}\n\t" TW_FPU_END ::: "memory");
}
#else
static void ${block}(tw_float_block *b)
{
    tw_float_taps(b);
}
#endif
