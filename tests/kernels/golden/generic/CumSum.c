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

/* One row: what all elements up to each one give; from the end on where `reverse`. */
TW_KERNEL void tw_cum_sum_f32(int32_t count, int32_t reverse, const float *x, int32_t x_step, float *y, int32_t y_step)
{
    float total = 0.0f;
    for (int32_t i = 0; i < count; ++i) {
        const int32_t at = reverse ? (count - 1 - i) : i;
        const float v = x[at * x_step];
        total = total + v;
        y[at * y_step] = total;
    }
}

/* ---- steps ---- */

/* Step 0 of 1: CumSum
 *   nodes    cumsum_0
 *   kernel   portable.cumsum
 *   X        f32[17,13,11]  ram [0, 9724)      cumsum_0_in0
 *   Y        f32[17,13,11]  ram [9724, 19448)  cumsum_0_out0
 */
TW_STEP void net_0_cumsum(uint8_t *ram)
{
    const float *const x = (const float *)(ram + IN_CUMSUM_0_IN0);
    float *const y = (float *)(ram + CUMSUM_0_OUT);
    for (int32_t tw_i0 = 0; tw_i0 < 17; ++tw_i0) {
        for (int32_t tw_i1 = 0; tw_i1 < 11; ++tw_i1) {
            tw_cum_sum_f32(13, 1, x + (tw_i0 * 143) + tw_i1, 11, y + (tw_i0 * 143) + tw_i1, 11);
        }
    }
}
