<%doc> Needs products (the function's name) and size, how many channels it computes: 1 to 4. </%doc>\
<%
    def step(load):
        lines = [load, f"ldm r1!, {{r8-r{7 + size}}}" if size > 1 else "ldr r8, [r1], #4"]
        for c in range(size):
            w, sum_ = f"r{8 + c}", f"r{4 + c}"
            lines += [f"sxtb16 lr, {w}", f"sxtb16 {w}, {w}, ror #8"]
            lines += [f"smlad {sum_}, r3, lr, {sum_}", f"smlad {sum_}, r12, {w}, {sum_}"]
        return lines

    aligned, any_ = "ldrd r3, r12, [r0], #8", "ldr r3, [r0], #4\\n\\tldr r12, [r0], #4"
    sums = f"{{r4-r{3 + size}}}" if size > 1 else "{r4}"
%>\
#include "dsp_words.h"

/* Products of ${size} channels and `fours` times four values of 16 bits, added to their sums. A word of weights has four of
 * one channel, the two in the middle exchanged; a word of every channel follows one another. */
#if defined(TW_DSP_ARM) && defined(__ARM_FEATURE_UNALIGNED)
% for name, load in (("aligned", aligned), ("any", any_)):
TW_ASSEMBLER void ${products}_${name}(const int16_t *x __attribute__((unused)),
        const uint32_t *w __attribute__((unused)), int32_t fours __attribute__((unused)),
        int32_t *sums __attribute__((unused)))
{
    __asm__ volatile(
        "push {r3-r11, lr}\n\t"
        "${f"ldm r3, {sums}" if size > 1 else "ldr r4, [r3]"}\n\t"
        "subs r2, #4\n\t"
        "blt 2f\n"
        "1:\n\t"
% for _ in range(4):
% for line in step(load):
        "${line}\n\t"
% endfor
% endfor
        "subs r2, #4\n\t"
        "bge 1b\n"
        "2:\n\t"
        "adds r2, #4\n\t"
        "beq 4f\n"
        "3:\n\t"
% for line in step(load):
        "${line}\n\t"
% endfor
        "subs r2, #1\n\t"
        "bne 3b\n"
        "4:\n\t"
        "ldr r3, [sp]\n\t"
        "${f"stm r3, {sums}" if size > 1 else "str r4, [r3]"}\n\t"
        "pop {r3-r11, pc}\n" ::: "memory");
}

% endfor
TW_KERNEL void ${products}(const int16_t *x, const uint32_t *w, int32_t fours, int32_t *sums)
{
    if (((uintptr_t)x & 3) == 0) {
        ${products}_aligned(x, w, fours, sums);
    } else {
        ${products}_any(x, w, fours, sums);
    }
}
#else
TW_KERNEL void ${products}(const int16_t *x, const uint32_t *w, int32_t fours, int32_t *sums)
{
    for (int32_t k = 0; k < fours; ++k) {
        const uint32_t low = tw_dsp_load(x + (4 * k));
        const uint32_t high = tw_dsp_load(x + (4 * k) + 2);
        for (int32_t c = 0; c < ${size}; ++c) {
            const uint32_t four = w[(${size} * k) + c];
            sums[c] = tw_dsp_mlad(high, tw_dsp_odd_i8(four), tw_dsp_mlad(low, tw_dsp_even_i8(four), sums[c]));
        }
    }
}
#endif
