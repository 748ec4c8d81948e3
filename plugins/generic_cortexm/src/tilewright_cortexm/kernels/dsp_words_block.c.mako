<%doc> Needs block (the function's name), size (channels, 1 to 4), aligned (whether x is at a whole word), shifted (or by the
formula of floats), low, high. </%doc>\
<%
    loads = ["ldrd r3, r12, [r0], #8"] if aligned else ["ldr r3, [r0], #4", "ldr r12, [r0], #4"]

    def step():
        lines = [*loads, f"ldm r1!, {{r8-r{7 + size}}}" if size > 1 else "ldr r8, [r1], #4"]
        for c in range(size):
            w, total = f"r{8 + c}", f"r{4 + c}"
            lines += [f"sxtb16 lr, {w}", f"sxtb16 {w}, {w}, ror #8"]
            lines += [f"smlad {total}, r3, lr, {total}", f"smlad {total}, r12, {w}, {total}"]
        return lines

    def end(c):
        total = f"r{4 + c}"
        if shifted:
            lines = ["ldm r3!, {r8-r10}", f"smmla {total}, {total}, r8, r9", f"asr {total}, {total}, r10"]
        else:
            lines = [f"vmov s0, {total}", "vcvt.f32.s32 s0, s0", "vldmia r3!, {s1}", "vmul.f32 s0, s0, s1"]
            lines += ["vcvtr.s32.f32 s0, s0", f"vmov {total}, s0", f"qadd {total}, {total}, r1"]
        return [*lines, f"usat {total}, #15, {total}" if low == 0 else f"ssat {total}, #16, {total}", f"strh {total}, [r0], #2"]

    biases = f"{{r4-r{3 + size}}}" if size > 1 else "{r4}"
%>\
#include "dsp_words.h"

/* ${size} channels of one pixel: their products with `fours` times four values, requantised. A word of weights has four of
 * one channel, the two in the middle exchanged; those of all channels follow one another. Parameters are the biases,
 * then ${"multiplier, addend and shift" if shifted else "the scale"} of each. */
#if defined(TW_DSP_ARM) && defined(__ARM_FEATURE_UNALIGNED)
TW_ASSEMBLER void ${block}(const int16_t *x __attribute__((unused)), const uint32_t *w __attribute__((unused)),
        int32_t fours __attribute__((unused)), const int32_t *p __attribute__((unused)),
        int16_t *y __attribute__((unused)), int32_t zero_point __attribute__((unused)))
{
    __asm__ volatile(
        "push {r3-r11, lr}\n\t"
        "${f"ldm r3!, {biases}" if size > 1 else "ldr r4, [r3], #4"}\n\t"
        "str r3, [sp]\n\t"
        "subs r2, #4\n\t"
        "blt 2f\n"
        "1:\n\t"
% for _ in range(4):
% for line in step():
        "${line}\n\t"
% endfor
% endfor
        "subs r2, #4\n\t"
        "bge 1b\n"
        "2:\n\t"
        "adds r2, #4\n\t"
        "beq 4f\n"
        "3:\n\t"
% for line in step():
        "${line}\n\t"
% endfor
        "subs r2, #1\n\t"
        "bne 3b\n"
        "4:\n\t"
        "ldr r3, [sp]\n\t"
        "ldrd r0, r1, [sp, #40]\n\t"
% for c in range(size):
% for line in end(c):
        "${line}\n\t"
% endfor
% endfor
        "pop {r3-r11, pc}\n" ::: "memory");
}
#else
TW_KERNEL void ${block}(const int16_t *x, const uint32_t *w, int32_t fours, const int32_t *p, int16_t *y,
        int32_t zero_point)
{
    for (int32_t c = 0; c < ${size}; ++c) {
        int32_t sum = p[c];
        for (int32_t k = 0; k < fours; ++k) {
            const uint32_t four = w[(${size} * k) + c];
            sum = tw_dsp_mlad(tw_dsp_load(x + (4 * k)), tw_dsp_even_i8(four), sum);
            sum = tw_dsp_mlad(tw_dsp_load(x + (4 * k) + 2), tw_dsp_odd_i8(four), sum);
        }
% if shifted:
        y[c] = (int16_t)tw_dsp_words_shifted(sum, &p[${size} + (3 * c)], ${low}, ${high});
% else:
        y[c] = (int16_t)tw_dsp_words_exact((float)sum, p[${size} + c], zero_point, ${low}, ${high});
% endif
    }
    (void)zero_point;
}
#endif
