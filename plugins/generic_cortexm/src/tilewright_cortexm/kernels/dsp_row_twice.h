#pragma once
#include "dsp_row.h"
#include "dsp_twice.h"

#ifdef TW_DSP_ARM
/* TW_DSP_ROW_BEGIN for sums whose product is rounded twice. Each channel has a bias, a multiplier, what is added to the
 * product, and an amount, which the stack has last. */
#define TW_DSP_ROW_BEGIN_TWICE \
    "push {r4-r11, lr}\n\t" \
    "sub sp, #32\n\t" \
    "ldr r1, [r0, #40]\n\t" \
    "strd r0, r1, [sp, #16]\n\t" \
    "1:\n\t" \
    "ldr r11, [sp, #16]\n\t" \
    "ldmia r11, {r0-r3}\n\t" \
    "ldmia r1, {r4-r9}\n\t" \
    "ldrd r10, r12, [r2], #8\n\t" \
    "strd r10, r12, [sp]\n\t" \
    "ldrd r10, r12, [r2], #8\n\t" \
    "str r10, [sp, #8]\n\t" \
    "str r12, [sp, #24]\n\t" \
    "ldr lr, [r11, #24]\n\t" \
    "add lr, r0\n\t" \
    "adds r1, #40\n\t" \
    "strd lr, r1, [r11]\n\t" \
    "add lr, r3, #1\n\t" \
    "strd r2, lr, [r11, #8]\n\t" \
    "mov r1, r3\n\t" \
    "ldr lr, [r11, #36]\n\t" \
    "str lr, [sp, #12]\n\t" \
    "ldr r2, [r11, #16]\n\t" \
    "add r2, r0\n\t"
#endif
