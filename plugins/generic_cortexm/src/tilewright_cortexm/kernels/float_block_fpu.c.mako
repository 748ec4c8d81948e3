<%doc>
Needs block (the function's name), pixels, clip ("none", "low" or "both").

Registers: r0..r3 values of the pixels, r4 weights, r5..r7 fields, r12 the struct, lr counts; s0..s15 sums, s16..s23 values,
s24..s27 weights of four outputs, s28..s31 products.
</%doc>\
<%
    rows = list(range(pixels))
    at = {name: 4 * number for number, name in enumerate((
        "x", "x_step", "w", "w_block", "bias", "y", "y_step", "outputs", "runs", "fours", "rest", "x_jump", "w_jump",
        "low", "high"))}
    sums = [[f"s{4 * p + o}" for o in range(4)] for p in rows]
    together = 2 if pixels > 1 else 4
%>\
<%def name="line(instruction)">\
        "${instruction}\n\t"
</%def>\
<%def name="values(count)">\
% for p in rows:
<% names = [f"s{16 + count * p + k}" for k in range(count)] %>\
${line(f"vldmia r{p}!, {{{', '.join(names)}}}")}\
% endfor
% for k in range(count):
${line("vldmia r4!, {s24-s27}")}\
% for p in rows:
${line("products " + ", ".join([*sums[p], *[f"s{16 + count * p + k}"] * 4]))}\
% endfor
% endfor
</%def>\
<%def name="limit(relation, name)">\
${line(f"vldr s16, [r12, #{at[name]}]")}\
${line(".irp sum, " + ", ".join(total for own in sums for total in own))}\
${line("vcmpe.f32 \\\\sum, s16")}\
${line("vmrs APSR_nzcv, fpscr")}\
${line(f"it {relation}")}\
${line(f"vmov{relation}.f32 \\\\sum, s16")}\
${line(".endr")}\
</%def>\
#include "assembler.h"
#include "float_products.h"
#include "float_fpu.h"

/* Sums of products of ${pixels} pixel${"s" if pixels > 1 else ""} with all outputs, four of them at a time. */
#ifdef TW_FPU_ARM
TW_ASSEMBLER void ${block}(tw_float_block *b __attribute__((unused)))
{
    __asm__ volatile(TW_FPU_BEGIN
${line("push {r4-r7, lr}")}\
${line("vpush {s16-s31}")}\
${line("mov r12, r0")}\
${line("1:")}\
${line(f"ldr r5, [r12, #{at['bias']}]")}\
${line("vldmia r5!, {s0-s3}")}\
${line(f"str r5, [r12, #{at['bias']}]")}\
% for p in rows[1:]:
% for o in range(4):
${line(f"vmov.f32 {sums[p][o]}, s{o}")}\
% endfor
% endfor
${line(f"ldrd r0, r5, [r12, #{at['x']}]")}\
% for p in rows[1:]:
${line(f"add r{p}, r{p - 1}, r5")}\
% endfor
${line(f"ldrd r4, r5, [r12, #{at['w']}]")}\
${line("add r5, r4")}\
${line(f"str r5, [r12, #{at['w']}]")}\
${line(f"ldr r7, [r12, #{at['runs']}]")}\
${line("2:")}\
${line(f"ldrd lr, r6, [r12, #{at['fours']}]")}\
${line("cmp lr, #0")}\
${line("beq 4f")}\
${line("3:")}\
${line(f".rept {4 // together}")}\
${values(together)}\
${line(".endr")}\
${line("subs lr, #1")}\
${line("bne 3b")}\
${line("4:")}\
${line("cmp r6, #0")}\
${line("beq 6f")}\
${line("5:")}\
${values(1)}\
${line("subs r6, #1")}\
${line("bne 5b")}\
${line("6:")}\
${line(f"ldrd r5, r6, [r12, #{at['x_jump']}]")}\
% for p in rows:
${line(f"add r{p}, r5")}\
% endfor
${line("add r4, r6")}\
${line("subs r7, #1")}\
${line("bne 2b")}\
% if clip != "none":
${limit("mi", "low")}\
% endif
% if clip == "both":
${limit("gt", "high")}\
% endif
${line(f"ldrd r5, r6, [r12, #{at['y']}]")}\
${line(f"ldr r7, [r12, #{at['outputs']}]")}\
${line("adds r0, r5, #16")}\
${line(f"str r0, [r12, #{at['y']}]")}\
${line("subs r7, #4")}\
${line(f"str r7, [r12, #{at['outputs']}]")}\
${line("bge 7f")}\
% for p in rows:
${line(f"vstr {sums[p][0]}, [r5]")}\
${line("cmp r7, #-2")}\
${line("it ge")}\
${line(f"vstrge {sums[p][1]}, [r5, #4]")}\
${line("it gt")}\
${line(f"vstrgt {sums[p][2]}, [r5, #8]")}\
${line("add r5, r6")}\
% endfor
${line("b 8f")}\
${line("7:")}\
% for p in rows:
${line(f"vstmia r5, {{{', '.join(sums[p])}}}")}\
${line("add r5, r6")}\
% endfor
${line("cmp r7, #0")}\
${line("bgt 1b")}\
${line("8:")}\
${line("vpop {s16-s31}")}\
        "pop {r4-r7, pc}\n\t" TW_FPU_END ::: "memory");
}
#else
static void ${block}(tw_float_block *b)
{
    tw_float_products(b, ${pixels});
}
#endif
