<%doc>
Needs block (the function's name), pixels, clip ("none", "low" or "both"), apart (whether taps are).

Registers: r0..r3 values of the pixels, r4 weights, from r8 on, r5 and r6 distances and counts, r7 rows that are left,
r9 biases, r10 results, r11 outputs that are left, r12 the struct, lr counts; s0..s15 sums, s16..s23 values, s24..s27
weights of four outputs, s28..s31 products.
</%doc>\
<%
    rows = list(range(pixels))
    at = {name: 4 * number for number, name in enumerate((
        "x", "x_step", "w", "w_block", "bias", "outputs", "y", "y_step", "fours", "rest", "x_jump", "w_jump", "rows",
        "taps", "x_tap", "low", "high"))}
    sums = [[f"s{4 * p + o}" for o in range(4)] for p in rows]
    weights = ["s24", "s25", "s26", "s27"]
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
${line("products " + ", ".join([*sums[p], *[f"s{16 + count * p + k}"] * 4, *weights]))}\
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
#include "fpu_block.h"
#include "fpu_products.h"

/* Sums of products of ${pixels} pixel${"s" if pixels > 1 else ""} with all outputs, four of them at a time. */
#ifdef TW_FPU_ARM
TW_ASSEMBLER void ${block}(const tw_fpu_block *b __attribute__((unused)))
{
    __asm__ volatile(TW_FPU_BEGIN
${line("push {r4-r11, lr}")}\
${line("vpush {s16-s31}")}\
${line("mov r12, r0")}\
${line(f"ldrd r9, r11, [r12, #{at['bias']}]")}\
${line(f"ldr r8, [r12, #{at['w']}]")}\
${line(f"ldr r10, [r12, #{at['y']}]")}\
${line("1:")}\
${line("vldmia r9!, {s0-s3}")}\
% for p in rows[1:]:
% for o in range(4):
${line(f"vmov.f32 {sums[p][o]}, s{o}")}\
% endfor
% endfor
${line(f"ldrd r0, r5, [r12, #{at['x']}]")}\
% for p in rows[1:]:
${line(f"add r{p}, r{p - 1}, r5")}\
% endfor
${line("mov r4, r8")}\
${line(f"ldr r7, [r12, #{at['rows']}]")}\
${line("2:")}\
% if apart:
${line(f"ldr r5, [r12, #{at['taps']}]")}\
${line("7:")}\
% endif
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
% if apart:
${line(f"ldr r6, [r12, #{at['x_tap']}]")}\
% for p in rows:
${line(f"add r{p}, r6")}\
% endfor
${line("subs r5, #1")}\
${line("bne 7b")}\
% endif
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
${line(f"ldr r5, [r12, #{at['w_block']}]")}\
% if pixels > 1:
${line(f"ldr r6, [r12, #{at['y_step']}]")}\
% endif
${line("add r8, r5")}\
${line("subs r11, #4")}\
${line("blt 8f")}\
${line(f"vstmia r10, {{{', '.join(sums[0])}}}")}\
% for p in rows[1:]:
${line(f"add r5, {'r10' if p == 1 else 'r5'}, r6")}\
${line(f"vstmia r5, {{{', '.join(sums[p])}}}")}\
% endfor
${line("add r10, r10, #16")}\
${line("bgt 1b")}\
${line("b 9f")}\
${line("8:")}\
% for p in rows:
${line(f"vstr {sums[p][0]}, [r10]")}\
${line("cmp r11, #-2")}\
${line("it ge")}\
${line(f"vstrge {sums[p][1]}, [r10, #4]")}\
${line("it gt")}\
${line(f"vstrgt {sums[p][2]}, [r10, #8]")}\
% if p < pixels - 1:
${line("add r10, r6")}\
% endif
% endfor
${line("9:")}\
${line("vpop {s16-s31}")}\
        "pop {r4-r11, pc}\n\t" TW_FPU_END ::: "memory");
}
#else
static void ${block}(const tw_fpu_block *b)
{
    tw_fpu_block_in_c(b, ${pixels});
}
#endif
