<%doc> Activations of gates for a unit that computes no other exponentials: at most 3 roundings off. </%doc>\
#include "prelude.h"
#include <math.h>
#include <stdint.h>

/* exp(x) of no positive x: 2^n (1 + r + r^2 q(r)), |r| <= ln2/2. What is below normal numbers is tw_expf's. */
TW_KERNEL float tw_fpu_exp_below(float x)
{
    if (!(x > -87.0f)) {
        return tw_expf(x);
    }
    const int32_t n = (int32_t)((x * 0x1.7154760000000p+0f) - 0.5f);
    const float whole = (float)n;
    const float r = (x - (whole * 0x1.62e4000000000p-1f)) - (whole * 0x1.7f7d1c0000000p-20f);
    const float q = 0.5f
        + (r * (0x1.5554660000000p-3f
        + (r * (0x1.5552fe0000000p-5f
        + (r * (0x1.1257d20000000p-7f
        + (r * 0x1.6ff2540000000p-10f)))))));
    return (1.0f + (r + ((r * r) * q))) * tw_exp2_int(n);
}

/* 1 / (1 + exp(-x)) */
TW_KERNEL float tw_fpu_sigmoidf(float x)
{
    const float e = tw_fpu_exp_below(-fabsf(x));
    return ((x < 0.0f) ? e : 1.0f) / (1.0f + e);
}

/* tanh(x): an odd polynomial near 0, else 1 - 2e / (1 + e), e = exp(-2|x|). */
TW_KERNEL float tw_fpu_tanhf(float x)
{
    const float size = fabsf(x);
    if (size < 0.5f) {
        const float s = x * x;
        return x + (x * (s * (-0x1.5555460000000p-2f
            + (s * (0x1.1102480000000p-3f
            + (s * (-0x1.b561280000000p-5f
            + (s * 0x1.26e6320000000p-6f))))))));
    }
    const float e = tw_fpu_exp_below(-2.0f * size);
    const float y = 1.0f - ((2.0f * e) / (1.0f + e));
    return (x < 0.0f) ? -y : y;
}
