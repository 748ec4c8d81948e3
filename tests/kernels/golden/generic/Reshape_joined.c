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

TW_KERNEL void tw_copy_f32_1(int32_t n0, const float *x_in, int32_t x0, float *y_out, int32_t y0)
{
    for (int32_t i0 = 0; i0 < n0; ++i0) {
        const float x = x_in[i0 * x0];
        y_out[i0 * y0] = x;
    }
}

/* ---- steps ---- */

/* Step 0 of 1: Reshape
 *   nodes    reshape_joined_0
 *   kernel   portable.reshape
 *   X        f32[9,14,22]  ram [0, 11088)      reshape_joined_0_in0
 *   Y        f32[9,308]    ram [11088, 22176)  reshape_joined_0_out0
 */
TW_STEP void net_0_reshape(uint8_t *ram)
{
    const float *const x = (const float *)(ram + IN_RESHAPE_JOINED_0_IN0);
    float *const y = (float *)(ram + RESHAPE_0_OUT);
    tw_copy_f32_1(2772, x, 1, y, 1);
}
