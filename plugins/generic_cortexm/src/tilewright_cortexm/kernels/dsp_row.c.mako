<%doc>
One row of four channels of a depthwise 3x3. Needs rows (the function's name), stride (of columns), fixed, exact, shift,
low, high.

Registers: r0 ring, r1 results, r2 end of the ring, r4 to r9 weights, r10 and r11 sums (or r11 the way to the next
result), r3, r12 and lr values. Stack: bias, multiplier, what it is moved by, way to the next result, the struct,
channels left.
</%doc>\
#include "dsp_row.h"

<%
    narrow = "ssat" if low < 0 else "usat"
    full = (low, high) in ((-128, 127), (0, 255))
    sums = ["r10", "r11"] if stride == 1 else ["r10"]
    forms = (["fixed"] if fixed else []) + (["exact"] if exact else [])
%>\
<%def name="line(text)">\
        "${text}\n\t"
</%def>\
<%def name="requantise(form)">\
% if form == "fixed":
${line("ldrd r12, r3, [sp, #4]")}\
% for sum in sums:
${line(f"smmla {sum}, {sum}, r12, r3")}\
${line(f"{narrow if full else 'ssat'} {sum}, #{8 if full else 16}, {sum}, asr #{shift}")}\
% endfor
% else:
${line("ldr r3, [sp, #8]")}\
% for sum in sums:
${line(f"vmov s0, {sum}")}\
${line("vcvt.f32.s32 s0, s0")}\
${line("vmul.f32 s0, s0, s1")}\
${line("vcvtr.s32.f32 s0, s0")}\
${line(f"vmov {sum}, s0")}\
${line(f"qadd {sum}, {sum}, r3")}\
${line(f"{narrow if full else 'ssat'} {sum}, #{8 if full else 16}, {sum}")}\
% endfor
% endif
% if not full:
% for sum in sums:
% for bound, relation in ((low, "lt"), (high, "gt")):
${line(f"cmp {sum}, #{bound}")}\
${line(f"it {relation}")}\
${line(f"mov{relation} {sum}, #{bound}")}\
% endfor
% endfor
% endif
</%def>\
<%def name="multiply()">\
${line("ldr r10, [sp]")}\
${line("ldrd r12, lr, [r0]")}\
% if stride == 1:
${line("mov r11, r10")}\
${line("smlad r10, r12, r4, r10")}\
${line("smlatb r11, r12, r4, r11")}\
${line("smlad r10, lr, r6, r10")}\
${line("smlatb r11, lr, r6, r11")}\
${line("ldrd r12, lr, [r0, #8]")}\
${line("smlad r10, r12, r8, r10")}\
${line("smlatb r11, r12, r8, r11")}\
${line("smlabt r10, lr, r5, r10")}\
${line("smlad r11, lr, r5, r11")}\
${line("ldrd r12, lr, [r0, #16]")}\
${line("smlabt r10, r12, r7, r10")}\
${line("smlad r11, r12, r7, r11")}\
${line("smlabt r10, lr, r9, r10")}\
${line("smlad r11, lr, r9, r11")}\
% else:
${line("smlad r10, r12, r4, r10")}\
${line("smlad r10, lr, r6, r10")}\
${line("ldrd r12, lr, [r0, #8]")}\
${line("smlad r10, r12, r8, r10")}\
${line("smlabt r10, lr, r5, r10")}\
${line("ldrd r12, lr, [r0, #16]")}\
${line("smlabt r10, r12, r7, r10")}\
${line("smlabt r10, lr, r9, r10")}\
% endif
</%def>\
<%def name="results(form)">\
${line(f"ldr r12, [r11, #{28 if form == 'fixed' else 32}]")}\
${line("str r12, [sp, #8]")}\
% if form == "exact":
${line("vldr s1, [sp, #4]")}\
${line("vabs.f32 s1, s1")}\
% endif
% if stride == 2:
${line("ldr r11, [sp, #12]")}\
% endif
${line("cmp r0, r2")}\
${line(f"beq 3{'' if form == 'fixed' else '0'}f")}\
${line(f"2{'' if form == 'fixed' else '0'}:")}\
${multiply()}\
${requantise(form)}\
% if stride == 1:
${line("ldr lr, [sp, #12]")}\
${line("strb r11, [r1, lr]")}\
${line("strb r10, [r1]")}\
${line("add r1, r1, lr, lsl #1")}\
% else:
${line("strb r10, [r1]")}\
${line("add r1, r1, r11")}\
% endif
${line("adds r0, #12")}\
${line("cmp r0, r2")}\
${line(f"bne 2{'' if form == 'fixed' else '0'}b")}\
${line(f"3{'' if form == 'fixed' else '0'}:")}\
% if stride == 1:
${line("ldr r12, [sp, #16]")}\
${line("ldr r3, [r12, #20]")}\
${line("ldr lr, [sp, #12]")}\
${line("ands r3, lr")}\
${line("beq 4f")}\
${line("movs r3, #0")}\
${line("str r3, [sp, #12]")}\
${line("add r2, r0, #12")}\
${line(f"b 2{'' if form == 'fixed' else '0'}b")}\
% else:
${line("b 4f")}\
% endif
</%def>\
#ifdef TW_DSP_ARM
TW_ASSEMBLER void ${rows}(tw_dsp_row *b __attribute__((unused)))
{
    __asm__ volatile(
${line("push {r4-r11, lr}")}\
${line("sub sp, #24")}\
${line("movs r1, #4")}\
${line("strd r0, r1, [sp, #16]")}\
${line("1:")}\
${line("ldr r11, [sp, #16]")}\
${line("ldmia r11, {r0-r3}")}\
${line("ldmia r1, {r4-r9}")}\
${line("ldrd r10, r12, [r2], #8")}\
${line("strd r10, r12, [sp]")}\
${line("ldr lr, [r11, #24]")}\
${line("add lr, r0")}\
${line("adds r1, #40")}\
${line("strd lr, r1, [r11]")}\
${line("add lr, r3, #1")}\
${line("strd r2, lr, [r11, #8]")}\
${line("mov r1, r3")}\
${line("ldr lr, [r11, #36]")}\
${line("str lr, [sp, #12]")}\
${line("ldr r2, [r11, #16]")}\
${line("add r2, r0")}\
% if len(forms) > 1:
${line("cmp r12, #0")}\
${line("blt 10f")}\
% endif
% for form in forms:
% if len(forms) > 1 and form == "exact":
${line("10:")}\
% endif
${results(form)}\
% endfor
${line("4:")}\
${line("ldr r3, [sp, #20]")}\
${line("subs r3, #1")}\
${line("str r3, [sp, #20]")}\
${line("bne 1b")}\
${line("add sp, #24")}\
        "pop {r4-r11, pc}"
        ::: "memory");
}
#else
static void ${rows}(tw_dsp_row *b)
{
    const int32_t count = b->bytes / ${6 if stride == 1 else 12} + (b->odd ? 1 : 0);
    for (int32_t c = 0; c < 4; ++c) {
        const uint32_t *const ring = b->ring + c * (b->apart / 4), *const w = b->taps + 10 * c;
        const int32_t *const p = b->parameters + 2 * c;
        for (int32_t i = 0; i < count; ++i) {
            int32_t sum = p[0];
            for (int32_t k = 0; k < 3; ++k) {
% if stride == 1:
                const uint32_t x = ring[i / 2 * 3 + k], next = ring[i / 2 * 3 + 3 + k];
                sum = i % 2 ? tw_dsp_mlatb(x, w[2 * k], sum) : tw_dsp_mlad(x, w[2 * k], sum);
                sum = i % 2 ? tw_dsp_mlad(next, w[2 * k + 1], sum) : tw_dsp_mlabt(next, w[2 * k + 1], sum);
% else:
                sum = tw_dsp_mlad(ring[3 * i + k], w[2 * k], sum);
                sum = tw_dsp_mlabt(ring[3 * i + 3 + k], w[2 * k + 1], sum);
% endif
            }
            b->y[i * b->y_step + c] = (uint8_t)tw_dsp_requant(sum, p[1], b->above, ${shift}, b->zero_point, ${low},
                ${high});
        }
    }
}
#endif
