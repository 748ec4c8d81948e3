<%doc>
One block of code for each use: the dot products of `pixels` runs of bytes with every `channels` rows of weights,
requantised and stored. Needs block, pixels, channels, unroll, tail, more, low, high.

Registers: r1 and r3 values, r5 weights, r9 parameters, r7 results, r11 counts; even ones are sums (VMLADAV demands it).
Stack: the fields of tw_mve_block in their order, up to zero_point; with `more`, what pixels differ by, then where the
struct is.
The formula of requantisation itself is used: VCVT, VMUL and VCVTN round as it does, in every lane.
</%doc>\
#include "mve.h"
#include "mve_block.h"

<%
    sums = [["r0", "r2", "r4", "r6"], ["r8", "r10", "r12", "lr"]]
    values = ["r1", "r3"]
    full = (low, high) in ((-128, 127), (0, 255))
    narrow = "vqmovnb.s16" if low < 0 else "vqmovunb.s16"
%>\
<%def name="line(text)">\
        "${text}\n\t"
</%def>\
<%def name="multiply()">\
% for c in range(channels):
${line(f"vldrb.s8 q{2 + c % 2}, [r5], #16")}\
% for p in range(pixels):
${line(f"vmladava.s8 {sums[p][c]}, q{p}, q{2 + c % 2}")}\
% endfor
% endfor
</%def>\
#ifdef TW_MVE_ARM
TW_ASSEMBLER void ${block}(const tw_mve_block *b __attribute__((unused)))
{
    __asm__ volatile(
${line("push {r4-r11, lr}")}\
% if more:
${line("push {r0}")}\
% endif
${line("ldmia r0, {r1-r9}")}\
${line("push {r1-r9}")}\
${line("mov r7, r5")}\
${line("mov r5, r3")}\
${line("mov r9, r4")}\
${line("1:")}\
${line("ldrd r1, r3, [sp]")}\
${line("ldrd r0, r2, [r9], #8")}\
${line("ldrd r4, r6, [r9], #8")}\
% for p in reversed(range(pixels)):
% if more:
${line("ldr r11, [sp, #36]")}\
${line(f"ldr r11, [r11, #{36 + 4 * p}]")}\
% endif
% for c in range(channels):
% if more:
${line(f"add {sums[p][c]}, {sums[0][c]}, r11")}\
% elif p:
${line(f"mov {sums[p][c]}, {sums[0][c]}")}\
% endif
% endfor
% endfor
% if unroll:
${line("ldr r11, [sp, #28]")}\
${line("2:")}\
% for step in range(unroll):
% for p in range(pixels):
${line(f"vldrb.s8 q{p}, [{values[p]}], #16")}\
% endfor
${multiply()}\
% endfor
${line("subs r11, #1")}\
${line("bne 2b")}\
% endif
% if tail:
${line(f"mov r11, #{tail}")}\
${line("vctp.8 r11")}\
${line("vpst" + "t" * (pixels - 1))}\
% for p in range(pixels):
${line(f"vldrbt.s8 q{p}, [{values[p]}]")}\
% endfor
% for c in range(channels):
${line("vpst")}\
${line(f"vldrbt.s8 q{2 + c % 2}, [r5, #{c * tail}]")}\
% for p in range(pixels):
${line(f"vmladava.s8 {sums[p][c]}, q{p}, q{2 + c % 2}")}\
% endfor
% endfor
${line(f"add r5, #{channels * tail}")}\
% endif
${line("vldrw.u32 q2, [r9], #16")}\
${line("ldr r11, [sp, #32]")}\
% for p in range(pixels):
${line(f"vmov q{p}[2], q{p}[0], {sums[p][0]}, {sums[p][2]}")}\
${line(f"vmov q{p}[3], q{p}[1], {sums[p][1]}, {sums[p][3]}")}\
% endfor
% for text in ("vcvt.f32.s32 {q}, {q}", "vmul.f32 {q}, {q}, q2", "vcvtn.s32.f32 {q}, {q}", "vqadd.s32 {q}, {q}, r11"):
% for p in range(pixels):
${line(text.replace("{q}", f"q{p}"))}\
% endfor
% endfor
% if full:
% for text in ("vqmovnb.s32 {q}, {q}", narrow + " {q}, {q}"):
% for p in range(pixels):
${line(text.replace("{q}", f"q{p}"))}\
% endfor
% endfor
% else:
% for bound, limit in ((low, "vmax"), (high, "vmin")):
${line(f"mov r11, #{bound}")}\
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
% for p, at in reversed(list(enumerate(("[r7], #4", "[r1]")[:pixels]))):
${line(f"vstrb{'t' if channels < 4 else ''}.32 q{p}, {at}")}\
% endfor
${line("ldr r11, [sp, #24]")}\
${line("subs r11, #1")}\
${line("str r11, [sp, #24]")}\
${line("bne 1b")}\
${line(f"add sp, #{40 if more else 36}")}\
        "pop {r4-r11, pc}"
        ::: "memory");
}
#else
<% j = "j" if pixels > 1 else "0" %>\
static void ${block}(const tw_mve_block *b)
{
    const int8_t *w = b->w;
    for (int32_t i = 0; i < b->blocks; ++i) {
        const int32_t *const p = b->parameters + 8 * i;
        const int8_t *const x[2] = {b->x, b->other};
% if unroll:
        const int32_t count = b->steps * ${16 * unroll};
% endif
% if pixels == 1:
        for (int32_t c = 0; c < ${channels}; ++c) {
% else:
        for (int32_t result = 0; result < ${pixels * channels}; ++result) {
            const int32_t j = result / ${channels}, c = result % ${channels};
% endif
            int32_t sum = p[c]${f" + b->more[{j}]" if more else ""};
            float scale;
% if unroll:
            for (int32_t k = 0; k < count; ++k) {
                sum += x[${j}][k] * w[(k / 16 * ${channels} + c) * 16 + k % 16];
            }
% endif
% if tail:
            for (int32_t k = 0; k < ${tail}; ++k) {
                sum += x[${j}][${"count + " if unroll else ""}k] * w[${f"count * {channels} + " if unroll else ""}c * ${tail} + k];
            }
% endif
            memcpy(&scale, p + 4 + c, sizeof scale);
            b->y[${"" if pixels == 1 else "j * b->apart + "}4 * i + c] = (uint8_t)tw_mve_requant(sum, scale, b->zero_point, ${low}, ${high});
        }
        w += ${{(True, True): f"(count + {tail}) * {channels}", (True, False): f"count * {channels}"}.get((bool(unroll), bool(tail)), tail * channels)};
    }
}
#endif
