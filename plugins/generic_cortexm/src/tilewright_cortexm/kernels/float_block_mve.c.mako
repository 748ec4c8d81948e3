<%doc>
Needs block (the function's name), pixels, clip ("none", "low" or "both"), taps (whether a run is taps that are apart), half
(whether floats have 16 bits, which blocks of such taps only know: sums have 32).

Registers: r0..r3 values of the pixels, r4 weights, r5..r12 values or fields, q0..q3 sums, q4..q7 weights of four outputs.
NaN is greater than nothing, so that it stays (where `lt` would be true).
Stack: the struct, runs that are left, taps of one that are.
</%doc>\
<%
    from itertools import zip_longest
    rows = list(range(pixels))
    pairs = [rows[at : at + 2] for at in range(0, pixels, 2)]
    lanes = (("r5", "r6", "r7", "r8"), ("r9", "r10", "r11", "r12"))
    at = {name: 4 * number for number, name in enumerate((
        "x", "x_step", "w", "w_block", "bias", "y", "y_step", "outputs", "runs", "fours", "rest", "x_jump", "w_jump",
        "low", "high", "taps", "x_tap"))}
    struct = "tw_float_spread" if taps else "tw_float_block"
    size = 2 if half else 4
%>\
<%def name="line(instruction)">\
        "${instruction}\n\t"
</%def>\
## VCVTB, which assemblers until binutils 2.40 encode wrongly for all vectors but q0
<%def name="widen(q)">\
${line(f".inst.w {hex(0xFE3F0E01 + (q << 13) + (q << 1))} @ vcvtb.f32.f16 q{q}, q{q}")}\
</%def>\
<%def name="narrow(q)">\
${line(f".inst.w {hex(0xEE3F0E01 + (q << 13) + (q << 1))} @ vcvtb.f16.f32 q{q}, q{q}")}\
</%def>\
<%def name="values_of(p, registers)">\
% if half:
${line(f"vldrh.u32 q7, [r{p}], #8")}\
${widen(7)}\
${line(f"vmov {registers[0]}, {registers[2]}, q7[2], q7[0]")}\
${line(f"vmov {registers[1]}, {registers[3]}, q7[3], q7[1]")}\
% else:
${line(f"ldm r{p}!, {{{', '.join(registers)}}}")}\
% endif
</%def>\
<%def name="weights_of(register, again=False)">\
% if half:
${line(f"vldrh.u32 {register}, [r4, #-8]" if again else f"vldrh.u32 {register}, [r4], #8")}\
${widen(int(register[1:]))}\
% else:
${line(f"vldrw.u32 {register}, [r4], #16")}\
% endif
</%def>\
<%def name="lower_limit()">\
${line(f"ldr r5, [r12, #{at['low']}]")}\
${line("vdup.32 q4, r5")}\
% for p in rows:
${line(f"vpt.f32 gt, q4, q{p}")}\
${line(f"vorrt q{p}, q4, q4")}\
% endfor
</%def>\
<%def name="upper_limit()">\
${line(f"ldr r5, [r12, #{at['high']}]")}\
% for p in rows:
${line(f"vpt.f32 gt, q{p}, r5")}\
${line(f"vdupt.32 q{p}, r5")}\
% endfor
</%def>\
% if taps:
#include "mve_float_spread.h"
% else:
#include "float_products.h"
% endif
#include "mve.h"

/* Sums of products of ${pixels} pixel${"s" if pixels > 1 else ""} with all outputs, four of them at a time. */
#ifdef TW_MVE_ARM
TW_ASSEMBLER void ${block}(${struct} *b __attribute__((unused)))
{
    __asm__ volatile(
${line("push {r4-r11, lr}")}\
${line("vpush {d8-d15}")}\
${line("sub sp, #12")}\
${line("str r0, [sp]")}\
${line("mov r12, r0")}\
${line("1:")}\
${line(f"ldr r5, [r12, #{at['bias']}]")}\
${line("vldrw.u32 q0, [r5], #16")}\
${line(f"str r5, [r12, #{at['bias']}]")}\
% for p in rows[1:]:
${line(f"vmov q{p}, q0")}\
% endfor
${line(f"ldrd r0, r5, [r12, #{at['x']}]")}\
% for p in rows[1:]:
${line(f"add r{p}, r{p - 1}, r5")}\
% endfor
${line(f"ldrd r4, r5, [r12, #{at['w']}]")}\
${line("add r5, r4")}\
${line(f"str r5, [r12, #{at['w']}]")}\
${line(f"ldr r5, [r12, #{at['runs']}]")}\
${line("2:")}\
${line("str r5, [sp, #4]")}\
% if taps:
${line(f"ldr r5, [r12, #{at['taps']}]")}\
${line("7:")}\
${line("str r5, [sp, #8]")}\
% endif
${line(f"ldr lr, [r12, #{at['fours']}]")}\
${line("wls lr, lr, 4f")}\
${line("3:")}\
% for index, pair in enumerate(pairs):
% for p, registers in zip(pair, lanes):
${values_of(p, registers)}\
% endfor
% for k in range(4):
% if index == 0 or half and k == 3:
${weights_of(f"q{4 + k}", again=index > 0)}\
% endif
% for p, registers in zip(pair, lanes):
${line(f"vfma.f32 q{p}, q{4 + k}, {registers[k]}")}\
% endfor
% endfor
% endfor
${line("le lr, 3b")}\
${line("4:")}\
${line("ldr r12, [sp]")}\
${line(f"ldr lr, [r12, #{at['rest']}]")}\
${line("wls lr, lr, 6f")}\
${line("5:")}\
${weights_of("q4")}\
% for p in rows:
${line(f"ldr{'h' if half else ''} r{5 + p}, [r{p}], #{size}")}\
% endfor
% for p in rows:
% if half:
${line(f"vdup.32 q5, r{5 + p}")}\
${widen(5)}\
${line(f"vfma.f32 q{p}, q4, q5")}\
% else:
${line(f"vfma.f32 q{p}, q4, r{5 + p}")}\
% endif
% endfor
${line("le lr, 5b")}\
${line("6:")}\
% if taps:
${line(f"ldr r5, [r12, #{at['x_tap']}]")}\
% for p in rows:
${line(f"add r{p}, r5")}\
% endfor
${line("ldr r5, [sp, #8]")}\
${line("subs r5, #1")}\
${line("bne 7b")}\
% endif
${line(f"ldrd r5, r6, [r12, #{at['x_jump']}]")}\
% for p in rows:
${line(f"add r{p}, r5")}\
% endfor
${line("add r4, r6")}\
${line("ldr r5, [sp, #4]")}\
${line("subs r5, #1")}\
${line("bne 2b")}\
% if clip != "none":
${lower_limit()}\
% endif
% if clip == "both":
${upper_limit()}\
% endif
${line(f"ldrd r6, r7, [r12, #{at['y']}]")}\
${line(f"ldr r5, [r12, #{at['outputs']}]")}\
${line(f"add r8, r6, #{4 * size}")}\
${line("vctp.32 r5")}\
${line(f"str r8, [r12, #{at['y']}]")}\
% for p in rows:
% if half:
${narrow(p)}\
% endif
${line("vpst")}\
${line(f"vstr{'h' if half else 'w'}t.32 q{p}, [r6]")}\
% if p < pixels - 1:
${line("add r6, r7")}\
% endif
% endfor
${line("subs r5, #4")}\
${line(f"str r5, [r12, #{at['outputs']}]")}\
${line("bgt 1b")}\
${line("add sp, #12")}\
${line("vpop {d8-d15}")}\
        "pop {r4-r11, pc}" ::: "memory");
}
#else
static void ${block}(${struct} *b)
{
    ${f"tw_float_spread_products_f{8 * size}" if taps else "tw_float_products"}(b, ${pixels});
}
#endif
