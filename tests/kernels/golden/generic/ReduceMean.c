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

/* What a reduction over no element gives. */
TW_KERNEL void tw_reduce_start_f32(int32_t kept, float value, float *y, int32_t y_kept)
{
    for (int32_t k = 0; k < kept; ++k) {
        y[k * y_kept] = value;
    }
}

TW_KERNEL float tw_reduce_sum(float one, float other)
{
    return one + other;
}

/* Combines a block of elements with what is in y already. */
TW_KERNEL void tw_reduce_sum_f32(int32_t kept, int32_t reduced, const float *x, int32_t x_kept, int32_t x_reduced,
                                  float *y, int32_t y_kept)
{
    if (x_reduced > x_kept) { /* whole rows at a time: neighbours in memory belong to different results */
        for (int32_t r = 0; r < reduced; ++r) {
            for (int32_t k = 0; k < kept; ++k) {
                y[k * y_kept] = tw_reduce_sum(y[k * y_kept], x[(k * x_kept) + (r * x_reduced)]);
            }
        }
        return;
    }
    for (int32_t k = 0; k < kept; ++k) {
        float result = y[k * y_kept];
        for (int32_t r = 0; r < reduced; ++r) {
            result = tw_reduce_sum(result, x[(k * x_kept) + (r * x_reduced)]);
        }
        y[k * y_kept] = result;
    }
}

/* From sums to means. */
TW_KERNEL void tw_reduce_finish_f32(int32_t kept, float divisor, float *y, int32_t y_kept)
{
    for (int32_t k = 0; k < kept; ++k) {
        y[k * y_kept] /= divisor;
    }
}

/* ---- steps ---- */

/* Step 0 of 1: ReduceMean
 *   nodes    reducemean_0
 *   kernel   portable.reduce_mean
 *   X        f32[17,13,11]  ram [0, 9724)      reducemean_0_in0
 *   Y        f32[17,11]     ram [9724, 10472)  reducemean_0_out0
 */
TW_STEP void net_0_reducemean(uint8_t *ram)
{
    const float *const x = (const float *)(ram + IN_REDUCEMEAN_0_IN0);
    float *const y = (float *)(ram + REDUCEMEAN_0_OUT);
    for (int32_t tw_i0 = 0; tw_i0 < 17; ++tw_i0)
    {
            tw_reduce_start_f32(11, 0x0.0p+0f, y + (tw_i0 * 11), 1);
            tw_reduce_sum_f32(11, 13, x + (tw_i0 * 143), 1, 11, y + (tw_i0 * 11), 1);
            tw_reduce_finish_f32(11, 0x1.a000000000000p+3f, y + (tw_i0 * 11), 1);
        }
}
