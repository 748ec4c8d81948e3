#pragma once
#include "dsp.h"
#include <stdint.h>

/* above + the upper half of the product, to the nearest */
TW_KERNEL int32_t tw_dsp_mmlar(int32_t acc, int32_t multiplier, int32_t above)
{
#ifdef TW_DSP_ARM
    int32_t r;
    __asm__("smmlar %0, %1, %2, %3" : "=r"(r) : "r"(acc), "r"(multiplier), "r"(above));
    return r;
#else
    return above + (int32_t)((((int64_t)acc * multiplier) + (INT64_C(1) << 31)) >> 32);
#endif
}
