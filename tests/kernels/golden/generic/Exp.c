/* What the portable kernels below rely on. */
#if defined(__FAST_MATH__)
#  error "build this file without -ffast-math: results would no longer be the ones that were checked"
#endif
#ifndef TW_KERNEL /* -DTW_KERNEL='static' keeps one copy of each kernel: smaller, slower */
#  if defined(__GNUC__)
#    define TW_KERNEL static inline __attribute__((always_inline, unused))
#  else
#    define TW_KERNEL static inline
#  endif
#endif

/* 2^n for -126 <= n <= 127. */
TW_KERNEL float tw_exp2_int(int32_t n)
{
    const union { uint32_t bits; float value; } power = {.bits = (uint32_t)(n + 127) << 23};
    return power.value;
}

/* exp(x), at most 1 ULP off: x = n ln2 + r, |r| <= ln2/2, exp(x) = 2^n (1 + r + r^2 q(r)). NaN stays NaN. */
TW_KERNEL float tw_expf(float x)
{
    if (!(x > -104.0f)) {
        return (x < 0.0f) ? 0.0f : x;
    }
    if (x > 89.0f) {
        return INFINITY;
    }
    const float scaled = x * 0x1.7154760000000p+0f;
    const float moved = (scaled < 0.0f) ? (scaled - 0.5f) : (scaled + 0.5f);
    const int32_t n = (int32_t)moved;
    const float r = (x - ((float)n * 0x1.62e4000000000p-1f)) - ((float)n * 0x1.7f7d1c0000000p-20f);
    const float q = 0x1.0000000000000p-1f
        + (r * (0x1.5554660000000p-3f
        + (r * (0x1.5552fe0000000p-5f
        + (r * (0x1.1257d20000000p-7f
        + (r * 0x1.6ff2540000000p-10f)))))));
    const float mantissa = 1.0f + (r + (r * r * q));
    const int32_t half = n / 2; /* two steps: results below 2^-126 and above 2^127 are reached through normal ones */
    return mantissa * tw_exp2_int(half) * tw_exp2_int(n - half);
}

TW_KERNEL void tw_exp_f32_1(int32_t n0, const float *x_in, int32_t x0, float *y_out, int32_t y0)
{
    for (int32_t i0 = 0; i0 < n0; ++i0) {
        const float x = x_in[i0 * x0];
        y_out[i0 * y0] = tw_expf(x);
    }
}

/* ---- steps ---- */

/* Step 0 of 1: Exp
 *   nodes    exp_0
 *   kernel   portable.exp
 *   X        f32[5,21,23]  ram [0, 9660)      exp_0_in0
 *   Y        f32[5,21,23]  ram [9660, 19320)  exp_0_out0
 */
TW_STEP void net_0_exp_x(uint8_t *ram)
{
    const float *const x = (const float *)(ram + IN_EXP_0_IN0);
    float *const y = (float *)(ram + EXP_0_OUT);
    tw_exp_f32_1(2415, x, 1, y, 1);
}
