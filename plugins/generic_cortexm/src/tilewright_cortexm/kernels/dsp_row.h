#pragma once
#include "dsp.h"
#include <stdint.h>

/* What a row of a depthwise 3x3 is given. */
typedef struct {
    const uint32_t *ring; /* of one channel: pairs of neighbours, of three rows in turn */
    const uint32_t *taps; /* of one channel, in the order of the ring: ten words */
    const int32_t *parameters; /* of each channel: bias, multiplier */
    uint8_t *y;
    int32_t bytes; /* of the ring that whole steps read first */
    int32_t odd; /* all bits set where one more result follows those of whole steps */
    int32_t apart; /* bytes between the rings of channels */
    /* see tw_dsp_requant */
    int32_t above;
    int32_t zero_point;
    int32_t y_step;
    int32_t channels;
} tw_dsp_row;

typedef void tw_dsp_row_of(tw_dsp_row *b);

#ifdef TW_DSP_ARM
/* What comes first for each of the channels. Registers: r0 ring, r1 results, r2 end of the ring, r4 to r9
 * weights, r10 and r11 sums (or r11 the way to the next result), r3, r12 and lr values. Stack: bias, multiplier, what
 * it is moved by, way to the next result, the struct, channels left. */
#define TW_DSP_ROW_BEGIN \
    "push {r4-r11, lr}\n\t" \
    "sub sp, #24\n\t" \
    "ldr r1, [r0, #40]\n\t" \
    "strd r0, r1, [sp, #16]\n\t" \
    "1:\n\t" \
    "ldr r11, [sp, #16]\n\t" \
    "ldmia r11, {r0-r3}\n\t" \
    "ldmia r1, {r4-r9}\n\t" \
    "ldrd r10, r12, [r2], #8\n\t" \
    "strd r10, r12, [sp]\n\t" \
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
