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

/* One row: y = exp(x - max) / sum(exp(x - max)). A NaN, or an infinite largest element, makes the whole row NaN. */
TW_KERNEL void tw_softmax_f32(int32_t count, const float *x, int32_t x_step, float *y, int32_t y_step)
{
    float largest = -INFINITY;
    float sum = 0.0f;
    for (int32_t i = 0; i < count; ++i) {
        const float v = x[i * x_step];
        largest = ((v > largest) || (v != v)) ? v : largest;
    }
    for (int32_t i = 0; i < count; ++i) {
        const float e = tw_expf(x[i * x_step] - largest);
        y[i * y_step] = e;
        sum += e;
    }
    for (int32_t i = 0; i < count; ++i) {
        y[i * y_step] /= sum;
    }
}

/* ---- steps ---- */

/* Step 0 of 1: Softmax
 *   nodes    softmax_0
 *   kernel   portable.softmax_f32
 *   X        f32[3,37,29]  ram [0, 12876)      softmax_0_in0
 *   Y        f32[3,37,29]  ram [12876, 25752)  softmax_0_out0
 */
TW_STEP void net_0_softmax(uint8_t *ram)
{
    const float *const x = (const float *)(ram + IN_SOFTMAX_0_IN0);
    float *const y = (float *)(ram + SOFTMAX_0_OUT);
    for (int32_t tw_i0 = 0; tw_i0 < 111; ++tw_i0) {
        tw_softmax_f32(29, x + (tw_i0 * 29), 1, y + (tw_i0 * 29), 1);
    }
}
