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

TW_KERNEL void tw_batch_normalization_f32_3(int32_t n0, int32_t n1, int32_t n2, const float *x_in, int32_t x0,
        int32_t x1, int32_t x2, const float *factor_in, int32_t factor0, int32_t factor1, int32_t factor2,
        const float *shift_in, int32_t shift0, int32_t shift1, int32_t shift2, float *y_out, int32_t y0, int32_t y1,
        int32_t y2)
{
    for (int32_t i0 = 0; i0 < n0; ++i0) {
        for (int32_t i1 = 0; i1 < n1; ++i1) {
            for (int32_t i2 = 0; i2 < n2; ++i2) {
                const float x = x_in[i0 * x0 + i1 * x1 + i2 * x2];
                const float factor = factor_in[i0 * factor0 + i1 * factor1 + i2 * factor2];
                const float shift = shift_in[i0 * shift0 + i1 * shift1 + i2 * shift2];
                y_out[i0 * y0 + i1 * y1 + i2 * y2] = x * factor + shift;
            }
        }
    }
}

/* ---- steps ---- */

/* Step 0 of 1: BatchNormalization
 *   nodes    batchnormalization_0
 *   kernel   portable.batch_normalization_f32
 *   X        f32[5,21,23]  ram [0, 9660)      batchnormalization_0_in0
 *   factor   f32[21,1]     flash [100, 184)   batchnormalization_0.factor
 *   shift    f32[21,1]     flash [16, 100)    batchnormalization_0.shift
 *   Y        f32[5,21,23]  ram [9660, 19320)  batchnormalization_0_out0
 */
TW_STEP void net_0_batchnormalization(const uint8_t *flash, uint8_t *ram)
{
    const float *const x = (const float *)(ram + IN_BATCHNORMALIZATION_0_IN0);
    const float *const factor = (const float *)(flash + BATCHNORMALIZATION_0_FACTOR);
    const float *const shift = (const float *)(flash + BATCHNORMALIZATION_0_SHIFT);
    float *const y = (float *)(ram + BATCHNORMALIZATION_0_OUT);
    tw_batch_normalization_f32_3(5, 21, 23, x, 483, 23, 1, factor, 0, 1, 0, shift, 0, 1, 0, y, 483, 23, 1);
}
