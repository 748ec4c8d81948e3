#pragma once
#include "dsp.h"
#include "prelude.h"
#include <stdint.h>

/* Products of low halves, and of high halves, added to a sum. */
TW_KERNEL int32_t tw_dsp_mlabb(uint32_t x, uint32_t w, int32_t sum)
{
#ifdef TW_DSP_ARM
    __asm__("smlabb %0, %1, %2, %0" : "+r"(sum) : "r"(x), "r"(w));
    return sum;
#else
    return sum + (tw_dsp_half(x, 0) * tw_dsp_half(w, 0));
#endif
}

TW_KERNEL int32_t tw_dsp_mlatt(uint32_t x, uint32_t w, int32_t sum)
{
#ifdef TW_DSP_ARM
    __asm__("smlatt %0, %1, %2, %0" : "+r"(sum) : "r"(x), "r"(w));
    return sum;
#else
    return sum + (tw_dsp_half(x, 1) * tw_dsp_half(w, 1));
#endif
}
