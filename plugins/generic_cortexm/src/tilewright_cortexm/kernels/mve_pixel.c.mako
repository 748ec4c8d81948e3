<%doc>
One block of code for each use: `channels` of one pixel. Needs block, channels, widen ("s16" or "u16"), taps, unroll and
trips, of which they are the product, low, high.
</%doc>\
#include "mve.h"
#include "mve_pixel.h"

<%
    full = (low, high) in ((-128, 127), (0, 255))
    narrow = "vqmovnb.s16" if low < 0 else "vqmovunb.s16"
%>\
<%def name="line(text)">\
        "${text}\n\t"
</%def>\
#ifdef TW_MVE_ARM
/* Even channels in q0, odd ones in q1. */
TW_ASSEMBLER void ${block}(const tw_mve_pixel *b __attribute__((unused)))
{
    __asm__ volatile(
${line("push {r4-r7, lr}")}\
${line("vpush {d8-d11}")}\
${line("ldmia r0, {r0-r5, r7}")}\
% if channels < 8:
${line(f"mov r6, #{channels}")}\
${line("vctp.16 r6")}\
% endif
${line("1:")}\
${line("vldrw.u32 q0, [r3], #16")}\
${line("vldrw.u32 q1, [r3], #16")}\
% if trips > 1:
${line("mov r12, r1")}\
${line(f"mov lr, #{trips}")}\
${line("dls lr, lr")}\
${line("2:")}\
% endif
% for tap in range(unroll):
${line("ldr r6, [r12], #4" if trips > 1 else f"ldr r6, [r1, #{4 * tap}]")}\
${line("add r6, r0")}\
% if channels < 8:
${line("vpstt")}\
% endif
${line(f"vldrb{'t' if channels < 8 else ''}.{widen} q2, [r6]")}\
${line(f"vldrb{'t' if channels < 8 else ''}.s16 q3, [r2], #{channels}")}\
${line("vmullb.s16 q4, q2, q3")}\
${line("vmullt.s16 q5, q2, q3")}\
${line("vadd.i32 q0, q0, q4")}\
${line("vadd.i32 q1, q1, q5")}\
% endfor
% if trips > 1:
${line("le lr, 2b")}\
% endif
${line("vldrw.u32 q2, [r3], #16")}\
${line("vldrw.u32 q3, [r3], #16")}\
% for text in ("vcvt.f32.s32 {q}, {q}", "vmul.f32 {q}, {q}, {s}", "vcvtn.s32.f32 {q}, {q}", "vqadd.s32 {q}, {q}, r7"):
% for q, s in (("q0", "q2"), ("q1", "q3")):
${line(text.replace("{q}", q).replace("{s}", s))}\
% endfor
% endfor
${line("vqmovnb.s32 q0, q0")}\
${line("vqmovnt.s32 q0, q1")}\
% if full:
${line(f"{narrow} q0, q0")}\
% else:
% for bound, limit in ((low, "vmax"), (high, "vmin")):
${line(f"mov r6, #{bound}")}\
${line("vdup.16 q2, r6")}\
${line(f"{limit}.s16 q0, q0, q2")}\
% endfor
% endif
% if channels < 8:
${line("vpst")}\
${line("vstrbt.16 q0, [r4]")}\
% else:
${line("vstrb.16 q0, [r4], #8")}\
${line("add r0, #8")}\
${line("subs r5, #1")}\
${line("bne 1b")}\
% endif
${line("vpop {d8-d11}")}\
        "pop {r4-r7, pc}"
        ::: "memory");
}
#else
static void ${block}(const tw_mve_pixel *b)
{
    for (int32_t c = 0; c < ${channels} * b->groups; ++c) {
        const int32_t group = c / 8, lane = c % 8;
        const int32_t *const p = b->parameters + 16 * group + lane % 2 * 4 + lane / 2;
        int32_t sum = p[0];
        float scale;
        for (int32_t tap = 0; tap < ${taps}; ++tap) {
            const uintptr_t at = b->base + b->table[tap] + (uintptr_t)c;
            const int32_t v = *(const ${"uint8_t" if widen == "u16" else "int8_t"} *)at;
            sum += v * b->w[(group * ${taps} + tap) * ${channels} + lane];
        }
        memcpy(&scale, p + 8, sizeof scale);
        b->y[c] = (uint8_t)tw_mve_requant(sum, scale, b->zero_point, ${low}, ${high});
    }
}
#endif
