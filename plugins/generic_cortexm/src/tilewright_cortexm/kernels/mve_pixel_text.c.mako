<%doc>
The assembler of one pixel in parts, for eight channels at a time, or for `some`: the last ones, less than eight. Even
channels are in q0, odd ones in q1. Needs of (part of the names), some, widen ("s16" or "u16"), words (values have 16 bits), multiplier
(channels of the result for each of x; where there are several, q6 has the way to each of the eight).
</%doc>\
#include "mve.h"
#include "mve_pixel.h"

<%
    count, from_table = '" #channels "', '" from "'
    when = "t" if some else ""
    gathered = ", q6" if multiplier > 1 else ""
    load = f"vldrh{when}.u16" if words else f"vldrb{when}.{widen}"
%>\
<%def name="line(instruction)">\
 ${"\\"}
    "${instruction}\n\t"\
</%def>\
#ifdef TW_MVE_ARM
#define TW_MVE_${of}_BEGIN(channels)\
${line("push {r4-r7, lr}")}\
${line("vpush {d8-d13}" if multiplier > 1 else "vpush {d8-d11}")}\
% if multiplier > 1:
${line("mov r6, #0")}\
${line("vidup.u16 q6, r6, #1")}\
${line(f"vshr.u16 q6, q6, #{multiplier.bit_length() - 1}")}\
% endif
${line("ldmia r0, {r0-r5, r7}")}\
% if some:
${line(f"mov r6, #{count}")}\
${line("vctp.16 r6")}\
% endif
${line("1:")}\
${line("vldrw.u32 q0, [r3], #16")}\
${line("vldrw.u32 q1, [r3], #16")}

/* a tap of `channels`; `from` is its place in the table */
#define TW_MVE_${of}_TAP(channels, from)\
${line(f"ldr r6, {from_table}")}\
${line("add r6, r0")}\
% if some:
${line("vpstt")}\
% endif
${line(f"{load} q2, [r6{gathered}]")}\
${line(f"vldrb{when}.s16 q3, [r2], #{count}")}\
${line("vmullb.s16 q4, q2, q3")}\
${line("vmullt.s16 q5, q2, q3")}\
${line("vadd.i32 q0, q0, q4")}\
${line("vadd.i32 q1, q1, q5")}
#endif
