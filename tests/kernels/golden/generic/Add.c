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

TW_KERNEL void tw_add_f32_3(int32_t n0, int32_t n1, int32_t n2, const float *a_in, int32_t a0, int32_t a1, int32_t a2,
        const float *b_in, int32_t b0, int32_t b1, int32_t b2, float *y_out, int32_t y0, int32_t y1, int32_t y2)
{
    for (int32_t i0 = 0; i0 < n0; ++i0) {
        for (int32_t i1 = 0; i1 < n1; ++i1) {
            for (int32_t i2 = 0; i2 < n2; ++i2) {
                const float a = a_in[i0 * a0 + i1 * a1 + i2 * a2];
                const float b = b_in[i0 * b0 + i1 * b1 + i2 * b2];
                y_out[i0 * y0 + i1 * y1 + i2 * y2] = a + b;
            }
        }
    }
}

/* ---- steps ---- */

/* Step 0 of 1: Add
 *   nodes    add_0
 *   kernel   portable.add
 *   A        f32[5,21,23]  ram [0, 9660)      add_0_in0
 *   B        f32[21,1]     ram [9660, 9744)   add_0_in1
 *   Y        f32[5,21,23]  ram [9744, 19404)  add_0_out0
 */
TW_STEP void net_0_add(uint8_t *ram)
{
    const float *const a = (const float *)(ram + IN_ADD_0_IN0);
    const float *const b = (const float *)(ram + IN_ADD_0_IN1);
    float *const y = (float *)(ram + ADD_0_OUT);
    tw_add_f32_3(5, 21, 23, a, 483, 23, 1, b, 0, 1, 0, y, 483, 23, 1);
}
