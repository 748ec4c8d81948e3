<%doc>
The assembler of one pixel after the products: the sums are requantised and stored. Needs of and end (parts of the name),
some, kind, away (see mve_requant.py, mve_words.py), words (values have 16 bits), multiplier
(channels of the result for each of x), low, high.
</%doc>\
#include "mve.h"
#include "mve_pixel.h"

<%
    full = (low, high) in (((-(2**15), 2**15 - 1),) if words else ((-128, 127), (0, 255)))
    narrow = "" if words else "vqmovnb.s16" if low < 0 else "vqmovunb.s16"
    store, value_bytes = ("vstrh", 2) if words else ("vstrb", 1)
%>\
<%def name="line(instruction)">\
 ${"\\"}
    "${instruction}\n\t"\
</%def>\
#ifdef TW_MVE_ARM
#define TW_MVE_${of}_END_${end}\
${line("vldrw.u32 q2, [r3], #16")}\
${line("vldrw.u32 q3, [r3], #16")}\
% if kind != "float":
${line("vldrw.u32 q4, [r3], #16")}\
${line("vldrw.u32 q5, [r3], #16")}\
% endif
<%
    formula = ("vcvt.f32.s32 {q}, {q}", "vmul.f32 {q}, {q}, {s}", "vcvtn.s32.f32 {q}, {q}")
    less = ("vand {s}, {q}, {t}", "vshr.s32 {s}, {s}, #31", "vqadd.s32 {q}, {q}, {s}") if away else ()
    twice = ("vqrdmulh.s32 {q}, {q}, {s}", *less, "vrshl.s32 {q}, {q}, {t}")
    shift = ("vmul.i32 {q}, {q}, {s}", "vldrw.u32 {s}, [r3], #16", "vadd.i32 {q}, {q}, {t}", "vshl.s32 {q}, {q}, {s}")
    high_half = ("vmulh.s32 {q}, {q}, {s}", *shift[1:])
    rounded = {"float": formula, "twice": twice, "shift": shift, "high": high_half}[kind]
    moved = () if kind == "high" else ("vqadd.s32 {q}, {q}, r7",)
%>\
% for text in (*rounded, *moved):
% for q, s, t in (("q0", "q2", "q4"), ("q1", "q3", "q5")):
${line(text.replace("{q}", q).replace("{s}", s).replace("{t}", t))}\
% endfor
% endfor
${line("vqmovnb.s32 q0, q0")}\
${line("vqmovnt.s32 q0, q1")}\
% if full and narrow:
${line(f"{narrow} q0, q0")}\
% elif not full:
% for bound, limit in ((low, "vmax"), (high, "vmin")):
${line(f"movw r6, #{bound & 65535}" if words else f"mov r6, #{bound}")}\
${line("vdup.16 q2, r6")}\
${line(f"{limit}.s16 q0, q0, q2")}\
% endfor
% endif
% if some:
${line("vpst")}\
${line(f"{store}t.16 q0, [r4]")}\
% else:
${line(f"{store}.16 q0, [r4], #{8 * value_bytes}")}\
${line(f"add r0, #{8 // multiplier * value_bytes}")}\
${line("subs r5, #1")}\
${line("bne 1b")}\
% endif
${line("vpop {d8-d13}" if multiplier > 1 else "vpop {d8-d11}")}\
${line("pop {r4-r7, pc}")}
#endif
