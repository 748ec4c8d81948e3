#pragma once
#include "prelude.h"
#include <stdint.h>

/* rne(v) + zero. VCVTR rounds as FPSCR says, to nearest even after reset, and saturates; NaN becomes 0. */
TW_KERNEL int32_t tw_arm_nearest(float v, int32_t zero)
{
#if defined(__arm__) && defined(__ARM_FP) && (__ARM_FP & 4) && defined(__ARM_FEATURE_DSP)
    int32_t q;
    __asm__("vcvtr.s32.f32 %1, %1\n\tvmov %0, %1\n\tqadd %0, %0, %2" : "=&r"(q), "+t"(v) : "r"(zero));
    return q;
#else
    const float inside = (v > -1024.0f) ? ((v < 1024.0f) ? v : 1024.0f) : ((v < 0.0f) ? -1024.0f : 0.0f);
    const int32_t whole = (int32_t)inside;
    const float rest = inside - (float)whole;
    const int32_t odd = whole & 1;
    return whole + ((rest > 0.5f) || ((rest == 0.5f) && odd)) - ((rest < -0.5f) || ((rest == -0.5f) && odd)) + zero;
#endif
}
