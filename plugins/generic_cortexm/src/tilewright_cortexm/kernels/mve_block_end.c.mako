<%doc>
The assembler of blocks of one shape after the products: the sums are requantised and stored. Needs what
mve_block_text.c.mako needs, and end (part of the name), kind, away (see mve_requant.py), low, high.
The formula of requantisation itself is used: VCVT, VMUL and VCVTN round as it does, in every lane; or VQRDMULH and VRSHL;
or VMUL, VADD and VSHL; or VMULH, VADD and VSHL, of results of 16 bits, whose addend has the zero point.
</%doc>\
#include "mve.h"
#include "mve_block.h"

<%
    sums = [["r0", "r2", "r4", "r6"], ["r8", "r10", "r12", "lr"]]
    values = ["r1", "r3"]
    full = (low, high) in (((-(2**15), 2**15 - 1),) if words else ((-128, 127), (0, 255)))
    narrow = () if words else ("vqmovnb.s16 {q}, {q}",) if low < 0 else ("vqmovunb.s16 {q}, {q}",)
    store, result_bytes = ("vstrh", 2) if words else ("vstrb", 1)
    multiply = {"twice": "vqrdmulh.s32", "shift": "vmul.i32", "high": "vmulh.s32"}
%>\
<%def name="line(instruction)">\
 ${"\\"}
    "${instruction}\n\t"\
</%def>\
#ifdef TW_MVE_ARM
#define TW_MVE_${shape}_END_${end}\
% for c in range(0, channels if nibbles else 0, 2):
% for p in range(pixels):
% if c + 1 < channels:
${line(f"sub {sums[p][c + 1]}, {sums[p][c + 1]}, {sums[p][c]}")}\
% endif
% if kind != "float":
${line(f"asr {sums[p][min(c + 1, channels - 1)]}, {sums[p][min(c + 1, channels - 1)]}, #4")}\
% endif
% endfor
% endfor
${line("vldrw.u32 q2, [r9], #16")}\
${line("ldr r11, [sp, #32]")}\
% for p in range(pixels):
${line(f"vmov q{p}[2], q{p}[0], {sums[p][0]}, {sums[p][2]}")}\
${line(f"vmov q{p}[3], q{p}[1], {sums[p][1]}, {sums[p][3]}")}\
% endfor
% for p in range(pixels if nibbles and channels > 1 else 0):
${line(f"vadd.i32 q{p}, q{p}, q{5 + p}")}\
% endfor
% if kind != "float":
${line("vldrw.u32 q3, [r9], #16")}\
% for p in range(pixels):
${line(f"{multiply[kind]} q{p}, q{p}, q2")}\
% endfor
% if kind in ("shift", "high"):
${line("vldrw.u32 q2, [r9], #16")}\
% endif
% for p in range(pixels if away else 0):
${line(f"vand q2, q3, q{p}")}\
${line("vshr.s32 q2, q2, #31")}\
${line(f"vqadd.s32 q{p}, q{p}, q2")}\
% endfor
% endif
<%
    formula = ("vcvt.f32.s32 {q}, {q}", "vmul.f32 {q}, {q}, q2", "vcvtn.s32.f32 {q}, {q}")
    shifted = ("vadd.i32 {q}, {q}, q3", "vshl.s32 {q}, {q}, q2")
    rounded = {"float": formula, "twice": ("vrshl.s32 {q}, {q}, q3",), "shift": shifted, "high": shifted}[kind]
    moved = () if kind == "high" else ("vqadd.s32 {q}, {q}, r11",)
%>\
% for text in (*rounded, *moved):
% for p in range(pixels):
${line(text.replace("{q}", f"q{p}"))}\
% endfor
% endfor
% if full:
% for text in ("vqmovnb.s32 {q}, {q}", *narrow):
% for p in range(pixels):
${line(text.replace("{q}", f"q{p}"))}\
% endfor
% endfor
% else:
% for bound, limit in ((low, "vmax"), (high, "vmin")):
% if words:
${line(f"movw r11, #{bound & 65535}")}\
${line("sxth r11, r11")}\
% else:
${line(f"mov r11, #{bound}")}\
% endif
${line("vdup.32 q2, r11")}\
% for p in range(pixels):
${line(f"{limit}.s32 q{p}, q{p}, q2")}\
% endfor
% endfor
% endif
% if channels < 4:
${line(f"mov r11, #{channels}")}\
${line("vctp.32 r11")}\
% endif
% if pixels == 2:
${line("ldr r1, [sp, #20]")}\
${line("add r1, r7")}\
% endif
% if channels < 4:
${line("vpst" + "t" * (pixels - 1))}\
% endif
% for p, at in reversed(list(enumerate((f"[r7], #{4 * result_bytes}", "[r1]")[:pixels]))):
${line(f"{store}{'t' if channels < 4 else ''}.32 q{p}, {at}")}\
% endfor
${line("ldr r11, [sp, #24]")}\
${line("subs r11, #1")}\
${line("str r11, [sp, #24]")}\
${line("bne 1b")}\
${line(f"add sp, #{40 if more else 36}")}\
% if nibbles:
${line("vpop {d8-d13}")}\
% endif
${line("pop {r4-r11, pc}")}
#endif
