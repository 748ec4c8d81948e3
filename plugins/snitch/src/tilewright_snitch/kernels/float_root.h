#pragma once
#include "float_math.h"
#include "functions/tw_sqrtf.h"
#include "prelude.h"
#include <stdint.h>

/* The square root, correctly rounded. */
TW_KERNEL float tw_sn_f32_root(float value)
{
#ifdef TW_SN_FPU
    float root;
    __asm__("fsqrt.s %0, %1" : "=f"(root) : "f"(value));
    return root;
#else
    return tw_sqrtf(value);
#endif
}
