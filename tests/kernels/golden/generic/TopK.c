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

/* One row, sorted into its first k by insertion; of equals the first comes first. */
TW_KERNEL void tw_top_largest_f32(int32_t count, int32_t k, const float *x, int32_t x_step, float *y, int32_t y_step,
                           int64_t *places, int32_t i_step)
{
    int32_t found = 0;
    for (int32_t i = 0; i < count; ++i) {
        const float v = x[i * x_step];
        int32_t at = found;
        while (at > 0) {
            const float other = y[(at - 1) * y_step];
            if (!(v > other || (v != v && other == other))) {
                break;
            }
            if (at < k) {
                y[at * y_step] = other;
                places[at * i_step] = places[(at - 1) * i_step];
            }
            --at;
        }
        if (at < k) {
            y[at * y_step] = v;
            places[at * i_step] = i;
        }
        found += found < k;
    }
}

/* ---- steps ---- */

/* Step 0 of 1: TopK
 *   nodes    topk_0
 *   kernel   portable.top_k
 *   X        f32[17,13,11]  ram [8976, 18700)  topk_0_in0
 *   Y        f32[17,4,11]   ram [0, 2992)      topk_0_out0
 *   I        i64[17,4,11]   ram [2992, 8976)   topk_0_out1
 */
TW_STEP void net_0_topk(uint8_t *ram)
{
    const float *const x = (const float *)(ram + IN_TOPK_0_IN0);
    float *const y = (float *)(ram + TOPK_0_OUT);
    int64_t *const i_x = (int64_t *)(ram + TOPK_0_OUT_I);
    for (int32_t tw_i0 = 0; tw_i0 < 17; ++tw_i0) {
        for (int32_t tw_i1 = 0; tw_i1 < 11; ++tw_i1) {
            tw_top_largest_f32(13, 4, x + (tw_i0 * 143) + tw_i1, 11, y + (tw_i0 * 44) + tw_i1, 11,
                               i_x + (tw_i0 * 44) + tw_i1, 11);
        }
    }
}
