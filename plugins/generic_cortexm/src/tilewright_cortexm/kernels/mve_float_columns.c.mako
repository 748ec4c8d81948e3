<%doc>
Needs block (the function's name), pixels (rows), step (bytes between rows of B), clip ("none", "low" or "both").

Registers: r0..r3 rows of A, r4 B, r5..r12 values or fields, q0..q3 sums, q4..q7 rows of B. NaN is greater than nothing, so
that it stays (where `lt` would be true).
</%doc>\
<%
    rows = list(range(pixels))
    pairs = [rows[at : at + 2] for at in range(0, pixels, 2)]
    lanes = (("r5", "r6", "r7", "r8"), ("r9", "r10", "r11", "r12"))
    at = {name: 4 * number for number, name in enumerate((
        "a", "a_row", "b", "blocks", "y", "y_row", "fours", "rest", "low", "high"))}
%>\
<%def name="line(instruction)">\
        "${instruction}\n\t"
</%def>\
<%def name="load(register)">\
% if step < 512:
${line(f"vldrw.u32 {register}, [r4], #{step}")}\
% else:
${line(f"vldrw.u32 {register}, [r4]")}\
${line(f"addw r4, r4, #{step}")}\
% endif
</%def>\
#include "mve.h"
#include "mve_float_matmul.h"

/* Products of ${pixels} row${"s" if pixels > 1 else ""} with columns that are ${step} bytes from row to row. */
#ifdef TW_MVE_ARM
TW_ASSEMBLER void ${block}(tw_float_columns *p __attribute__((unused)))
{
    __asm__ volatile(
${line("push {r4-r11, lr}")}\
${line("vpush {d8-d15}")}\
${line("sub sp, #12")}\
${line("str r0, [sp]")}\
${line("mov r12, r0")}\
${line("1:")}\
% for p in rows:
${line(f"vmov.i32 q{p}, #0")}\
% endfor
${line(f"ldrd r0, r5, [r12, #{at['a']}]")}\
% for p in rows[1:]:
${line(f"add r{p}, r{p - 1}, r5")}\
% endfor
${line(f"ldr r4, [r12, #{at['b']}]")}\
${line("add r5, r4, #16")}\
${line(f"str r5, [r12, #{at['b']}]")}\
${line(f"ldr lr, [r12, #{at['fours']}]")}\
${line("wls lr, lr, 4f")}\
${line("3:")}\
% for index, pair in enumerate(pairs):
% for p, registers in zip(pair, lanes):
${line(f"ldm r{p}!, {{{', '.join(registers)}}}")}\
% endfor
% for k in range(4):
% if index == 0:
${load(f"q{4 + k}")}\
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
${load("q4")}\
% for p in rows:
${line(f"ldr r{5 + p}, [r{p}], #4")}\
% endfor
% for p in rows:
${line(f"vfma.f32 q{p}, q4, r{5 + p}")}\
% endfor
${line("le lr, 5b")}\
${line("6:")}\
% if clip != "none":
${line(f"ldr r5, [r12, #{at['low']}]")}\
${line("vdup.32 q4, r5")}\
% for p in rows:
${line(f"vpt.f32 gt, q4, q{p}")}\
${line(f"vorrt q{p}, q4, q4")}\
% endfor
% endif
% if clip == "both":
${line(f"ldr r5, [r12, #{at['high']}]")}\
% for p in rows:
${line(f"vpt.f32 gt, q{p}, r5")}\
${line(f"vdupt.32 q{p}, r5")}\
% endfor
% endif
${line(f"ldrd r6, r7, [r12, #{at['y']}]")}\
${line("add r8, r6, #16")}\
${line(f"str r8, [r12, #{at['y']}]")}\
% for p in rows:
${line(f"vstrw.32 q{p}, [r6]")}\
% if p < pixels - 1:
${line("add r6, r7")}\
% endif
% endfor
${line(f"ldr r5, [r12, #{at['blocks']}]")}\
${line("subs r5, #1")}\
${line(f"str r5, [r12, #{at['blocks']}]")}\
${line("bgt 1b")}\
${line("add sp, #12")}\
${line("vpop {d8-d15}")}\
        "pop {r4-r11, pc}" ::: "memory");
}
#else
static void ${block}(tw_float_columns *p)
{
    tw_float_columns_of(p, ${pixels}, ${step});
}
#endif
