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

TW_KERNEL void tw_copy_f32_2(int32_t n0, int32_t n1, const float *x_in, int32_t x0, int32_t x1, float *y_out,
        int32_t y0, int32_t y1)
{
    for (int32_t i0 = 0; i0 < n0; ++i0) {
        for (int32_t i1 = 0; i1 < n1; ++i1) {
            const float x = x_in[i0 * x0 + i1 * x1];
            y_out[i0 * y0 + i1 * y1] = x;
        }
    }
}

/* ---- steps ---- */

/* Step 0 of 1: Transpose
 *   nodes    transpose_0
 *   kernel   portable.transpose
 *   X        f32[9,14,22]  ram [0, 11088)      transpose_0_in0
 *   Y        f32[22,9,14]  ram [11088, 22176)  transpose_0_out0
 */
TW_STEP void net_0_transpose(uint8_t *ram)
{
    const float *const x = (const float *)(ram + IN_TRANSPOSE_0_IN0);
    float *const y = (float *)(ram + TRANSPOSE_0_OUT);
    tw_copy_f32_2(22, 126, x, 1, 22, y, 126, 1);
}
