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

TW_KERNEL void tw_copy_f32_3(int32_t n0, int32_t n1, int32_t n2, const float *x_in, int32_t x0, int32_t x1, int32_t x2,
        float *y_out, int32_t y0, int32_t y1, int32_t y2)
{
    for (int32_t i0 = 0; i0 < n0; ++i0) {
        for (int32_t i1 = 0; i1 < n1; ++i1) {
            for (int32_t i2 = 0; i2 < n2; ++i2) {
                const float x = x_in[i0 * x0 + i1 * x1 + i2 * x2];
                y_out[i0 * y0 + i1 * y1 + i2 * y2] = x;
            }
        }
    }
}

/* ---- steps ---- */

/* Step 0 of 1: Slice
 *   nodes    slice_0
 *   kernel   portable.slice
 *   X        f32[9,14,22]  ram [0, 11088)      slice_0_in0
 *   Y        f32[5,4,19]   ram [11088, 12608)  slice_0_out0
 */
TW_STEP void net_0_slice(uint8_t *ram)
{
    const float *const x = (const float *)(ram + IN_SLICE_0_IN0 + 96);
    float *const y = (float *)(ram + SLICE_0_OUT);
    tw_copy_f32_3(5, 4, 19, x + 2464, -616, 66, 1, y, 76, 19, 1);
}
