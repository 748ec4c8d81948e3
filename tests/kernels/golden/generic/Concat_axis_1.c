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

/* Step 0 of 1: Concat
 *   nodes    concat_axis_1_0
 *   kernel   portable.concat
 *   X0       f32[9,14,22]  ram [0, 11088)      concat_axis_1_0_in0
 *   X1       f32[9,5,22]   ram [11088, 15048)  concat_axis_1_0_in1
 *   X2       f32[9,14,22]  ram [15048, 26136)  concat_axis_1_0_in2
 *   Y        f32[9,33,22]  ram [26136, 52272)  concat_axis_1_0_out0
 */
TW_STEP void net_0_concat(uint8_t *ram)
{
    const float *const x0 = (const float *)(ram + IN_CONCAT_AXIS_1_0_IN0);
    const float *const x1 = (const float *)(ram + IN_CONCAT_AXIS_1_0_IN1);
    const float *const x2 = (const float *)(ram + IN_CONCAT_AXIS_1_0_IN2);
    float *const y = (float *)(ram + CONCAT_0_OUT);
    tw_copy_f32_2(9, 308, x0, 308, 1, y, 726, 1);
    tw_copy_f32_2(9, 110, x1, 110, 1, y + 308, 726, 1);
    tw_copy_f32_2(9, 308, x2, 308, 1, y + 418, 726, 1);
}
