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

TW_KERNEL void tw_upsample_f32_1x3x2(int32_t n0, int32_t first0, int32_t moved0, int32_t n1, int32_t first1,
        int32_t moved1, int32_t n2, int32_t first2, int32_t moved2, const float *x, int32_t x0, int32_t x1, int32_t x2,
        float *y, int32_t y0, int32_t y1, int32_t y2)
{
    for (int32_t i0 = 0; i0 < n0; ++i0) {
        const int32_t p0 = first0 + i0 + moved0;
        for (int32_t i1 = 0; i1 < n1; ++i1) {
            const int32_t p1 = (first1 + i1) / 3 + moved1;
            for (int32_t i2 = 0; i2 < n2; ++i2) {
                const int32_t p2 = (first2 + i2) / 2 + moved2;
                y[i0 * y0 + i1 * y1 + i2 * y2] = x[p0 * x0 + p1 * x1 + p2 * x2];
            }
        }
    }
}

/* ---- steps ---- */

/* Step 0 of 1: Upsample
 *   nodes    upsample_0
 *   kernel   portable.upsample
 *   X        f32[3,9,11]   ram [0, 1188)     upsample_0_in0
 *   Y        f32[3,27,22]  ram [1188, 8316)  upsample_0_out0
 */
TW_STEP void net_0_upsample(uint8_t *ram)
{
    const float *const x = (const float *)(ram + IN_UPSAMPLE_0_IN0);
    float *const y = (float *)(ram + UPSAMPLE_0_OUT);
    tw_upsample_f32_1x3x2(3, 0, 0, 27, 0, 0, 22, 0, 0, x, 99, 11, 1, y, 594, 22, 1);
}
