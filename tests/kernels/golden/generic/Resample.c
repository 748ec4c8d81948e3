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

/* One row: every output is a weighted sum of elements from its own first one on. */
TW_KERNEL void tw_resample_f32(int32_t size, int32_t taps, const float *x, int32_t x_step, const int32_t *first,
                               int32_t first_step, const float *w, int32_t w_row, int32_t w_step, float *y,
                               int32_t y_step)
{
    for (int32_t i = 0; i < size; ++i) {
        const float *const xi = x + (first[i * first_step] * x_step);
        float sum = 0.0f;
        for (int32_t k = 0; k < taps; ++k) {
            sum += w[(i * w_row) + (k * w_step)] * xi[k * x_step];
        }
        y[i * y_step] = sum;
    }
}

/* ---- steps ---- */

/* Step 0 of 1: Resample
 *   nodes    resample_0
 *   kernel   portable.resample_f32
 *   X        f32[9,10,22]  ram [0, 7920)      resample_0_in0
 *   I        i32[5]        flash [96, 116)    resample_0.I
 *   W        f32[5,4]      flash [16, 96)     resample_0.W
 *   Y        f32[9,5,22]   ram [7920, 11880)  resample_0_out0
 */
TW_STEP void net_0_resample(const uint8_t *flash, uint8_t *ram)
{
    const float *const x = (const float *)(ram + IN_RESAMPLE_0_IN0);
    const int32_t *const i_x = (const int32_t *)(flash + RESAMPLE_0_I);
    const float *const w = (const float *)(flash + RESAMPLE_0_W);
    float *const y = (float *)(ram + RESAMPLE_0_OUT);
    for (int32_t tw_i0 = 0; tw_i0 < 9; ++tw_i0) {
        for (int32_t tw_i1 = 0; tw_i1 < 22; ++tw_i1) {
            tw_resample_f32(5, 4, x + (tw_i0 * 220) + tw_i1, 22, i_x, 1, w, 4, 1, y + (tw_i0 * 110) + tw_i1, 22);
        }
    }
}
