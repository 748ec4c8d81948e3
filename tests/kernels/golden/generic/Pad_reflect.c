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

/* The position mirrored at both ends, which are not repeated. */
TW_KERNEL int32_t tw_pad_reflect(int32_t position, int32_t extent)
{
    const int32_t period = (extent > 1) ? (2 * (extent - 1)) : 1;
    const int32_t rest = position % period;
    const int32_t forward = (rest < 0) ? (rest + period) : rest;
    return (forward < extent) ? forward : (period - forward);
}

TW_KERNEL void tw_pad_reflect_f32_3(int32_t n0, int32_t first0, int32_t extent0, int32_t moved0, int32_t n1,
        int32_t first1, int32_t extent1, int32_t moved1, int32_t n2, int32_t first2, int32_t extent2, int32_t moved2,
        const float *x, int32_t x0, int32_t x1, int32_t x2, float *y, int32_t y0, int32_t y1, int32_t y2, float value)
{
    for (int32_t i0 = 0; i0 < n0; ++i0) {
        const int32_t p0 = tw_pad_reflect(first0 + i0, extent0);
        for (int32_t i1 = 0; i1 < n1; ++i1) {
            const int32_t p1 = tw_pad_reflect(first1 + i1, extent1);
            for (int32_t i2 = 0; i2 < n2; ++i2) {
                const int32_t p2 = tw_pad_reflect(first2 + i2, extent2);
                y[i0 * y0 + i1 * y1 + i2 * y2] = p0 >= 0 && p1 >= 0 && p2 >= 0
                    ? x[(p0 + moved0) * x0 + (p1 + moved1) * x1 + (p2 + moved2) * x2] : value;
            }
        }
    }
}

/* ---- steps ---- */

/* Step 0 of 1: Pad
 *   nodes    pad_reflect_0
 *   kernel   portable.pad
 *   X        f32[9,14,22]   ram [0, 11088)      pad_reflect_0_in0
 *   Y        f32[10,19,28]  ram [11088, 32368)  pad_reflect_0_out0
 */
TW_STEP void net_0_pad(uint8_t *ram)
{
    const float *const x = (const float *)(ram + IN_PAD_REFLECT_0_IN0);
    float *const y = (float *)(ram + PAD_0_OUT);
    tw_pad_reflect_f32_3(10, -1, 9, 0, 19, -3, 14, 0, 28, -2, 22, 0, x, 308, 22, 1, y, 532, 28, 1, 0x0.0p+0f);
}
