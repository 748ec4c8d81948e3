<%doc>
Needs block (the function's name), clip ("none", "low" or "both"), tail (whether channels do not come in fours).

Registers: r0 values, r4 weights, from r1 and r2 on; r3 and r5..r7 distances, r8 runs that are left, r9 taps of one, r10
results, r11 biases, r12 channels that are left; q0 sums. Stack: runs, low, high. NaN is greater than nothing, so that it
stays (where `lt` would be true).
</%doc>\
<%def name="line(instruction)">\
        "${instruction}\n\t"
</%def>\
<%def name="lower_limit()">\
${line("ldr r0, [sp, #8]")}\
${line("vdup.32 q1, r0")}\
${line("vpt.f32 gt, q1, q0")}\
${line("vorrt q0, q1, q1")}\
</%def>\
<%def name="upper_limit()">\
${line("ldr r0, [sp, #12]")}\
${line("vpt.f32 gt, q0, r0")}\
${line("vdupt.32 q0, r0")}\
</%def>\
#include "float_depthwise.h"
#include "mve.h"

/* Sums over taps of one pixel, four channels at a time. */
#ifdef TW_MVE_ARM
TW_ASSEMBLER void ${block}(tw_float_block *b __attribute__((unused)))
{
    __asm__ volatile(
${line("push {r4-r11, lr}")}\
${line("ldrd r10, r11, [r0, #52]")}\
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
${line("vldrw.u32 q0, [r11], #16")}\
% if tail:
${line("vctp.32 r12")}\
% endif
${line("ldr r8, [sp, #4]")}\
${line("2:")}\
${line("wls lr, r9, 4f")}\
${line("3:")}\
% if tail:
${line("vpst")}\
% endif
${line(f"vldrw{'t' if tail else ''}.u32 q1, [r0]")}\
${line("vldrw.u32 q2, [r4], #16")}\
${line("add r0, r5")}\
${line("vfma.f32 q0, q1, q2")}\
${line("le lr, 3b")}\
${line("4:")}\
${line("add r0, r6")}\
${line("add r4, r7")}\
${line("subs r8, #1")}\
${line("bne 2b")}\
% if clip != "none":
${lower_limit()}\
% endif
% if clip == "both":
${upper_limit()}\
% endif
% if tail:
${line("vctp.32 r12")}\
${line("vpst")}\
% endif
${line(f"vstrw{'t' if tail else ''}.32 q0, [r10], #16")}\
${line("add r1, #16")}\
${line("add r2, r3")}\
${line("subs r12, #4")}\
${line("bgt 1b")}\
${line("add sp, #16")}\
        "pop {r4-r11, pc}" ::: "memory");
}
#else
static void ${block}(tw_float_block *b)
{
    tw_float_taps(b);
}
#endif
