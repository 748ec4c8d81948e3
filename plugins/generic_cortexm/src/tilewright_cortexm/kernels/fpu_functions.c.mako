<%doc> Needs places (the table of tanh, as C), end. Functions whose exponentials are normal numbers; others are the core's. </%doc>\
#include "prelude.h"
#include <math.h>
#include <stdint.h>

static const float tw_fpu_tanh_places[${4 * len(places)}] = {
% for place in places:
    ${place},
% endfor
};

TW_KERNEL uint32_t tw_fpu_bits(float value)
{
    const union { float from; uint32_t to; } bits = {.from = value};
    return bits.to;
}

TW_KERNEL float tw_fpu_from(uint32_t value)
{
    const union { uint32_t from; float to; } bits = {.from = value};
    return bits.to;
}

/* The bits of ((p[0] d + p[1]) d + p[2]) d + p[3]; sums are rounded once where that is one instruction. */
TW_KERNEL uint32_t tw_fpu_cubic(const float *p, float d)
{
#if defined(__ARM_FEATURE_FMA) && defined(__ARM_FP) && (__ARM_FP & 4)
    uint32_t bits;
    __asm__("vldmia %1, {s0-s3}\n\t"
        "vfma.f32 s1, s0, %2\n\t"
        "vfma.f32 s2, s1, %2\n\t"
        "vfma.f32 s3, s2, %2\n\t"
        "vmov %0, s3" : "=r"(bits) : "r"(p), "t"(d) : "s0", "s1", "s2", "s3");
    return bits;
#else
    return tw_fpu_bits((((((p[0] * d) + p[1]) * d) + p[2]) * d) + p[3]);
#endif
}

/* exp(x) of |x| <= 87, at most 1.7 units of 2^-24 off: 2^n p(r), |r| <= ln2/2. 3 * 2^22 leaves no bit for a
 * fraction. */
TW_KERNEL float tw_fpu_exp_near(float x)
{
    const float moved = (x * 0x1.7154760000000p+0f) + 12582912.0f;
    const float whole = moved - 12582912.0f;
    const float r = (x - (whole * 0x1.62e4000000000p-1f)) - (whole * 0x1.7f7d1c0000000p-20f);
    const float p = 1.0f + (r * (1.0f + (r * (0.5f
        + (r * (0x1.5554660000000p-3f
        + (r * (0x1.5552fe0000000p-5f
        + (r * (0x1.1257d20000000p-7f
        + (r * 0x1.6ff2540000000p-10f)))))))))));
    return tw_fpu_from(tw_fpu_bits(p) + (tw_fpu_bits(moved) << 23));
}

/* exp(x), at most 1.7 units of 2^-24 off. */
TW_KERNEL float tw_fpu_expf(float x)
{
    return (fabsf(x) <= 87.0f) ? tw_fpu_exp_near(x) : tw_expf(x);
}

/* 1 / (1 + exp(-x)), at most 2.6 units of 2^-24 off. */
TW_KERNEL float tw_fpu_sigmoidf(float x)
{
    return (fabsf(x) <= 87.0f) ? (1.0f / (1.0f + tw_fpu_exp_near(-x))) : tw_sigmoidf(x);
}

/* tanh(x), by the polynomial of the nearest place; at most 5.6 units of 2^-24 off. */
TW_KERNEL float tw_fpu_tanhf(float x)
{
    const float size = fabsf(x);
    if (!(size < ${end})) {
        return (x < 0.0f) ? -1.0f : ((x > 0.0f) ? 1.0f : x);
    }
    const float moved = size + 786432.0f; /* 3 * 2^18 leaves sixteenths, whose number are the lowest bits */
    const float d = size - (moved - 786432.0f);
    const uint32_t y = tw_fpu_cubic(tw_fpu_tanh_places + (4 * (tw_fpu_bits(moved) & 255)), d);
    return tw_fpu_from(y | (tw_fpu_bits(x) & UINT32_C(0x80000000)));
}
