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

/* Position of the first element that no other is beyond, along one row. */
TW_KERNEL int32_t tw_argmax_f32(int32_t count, const float *x, int32_t step)
{
    int32_t best = 0;
    for (int32_t i = 0; i < count; ++i) {
        const float v = x[i * step];
        const float most = x[best * step];
        if (v != v) { /* NaN is beyond every number */
            return i;
        } else if (most == most && v > most) {
            best = i;
        }
    }
    return best;
}

/* ---- steps ---- */

/* Step 0 of 1: ArgMax
 *   nodes    argmax_0
 *   kernel   portable.argmax
 *   X        f32[17,13,11]  ram [1496, 11220)  argmax_0_in0
 *   Y        i64[17,11]     ram [0, 1496)      argmax_0_out0
 */
TW_STEP void net_0_argmax(uint8_t *ram)
{
    const float *const x = (const float *)(ram + IN_ARGMAX_0_IN0);
    int64_t *const y = (int64_t *)(ram + ARGMAX_0_OUT);
    for (int32_t tw_i0 = 0; tw_i0 < 17; ++tw_i0) {
        for (int32_t tw_i1 = 0; tw_i1 < 11; ++tw_i1) {
            *(y + (tw_i0 * 11) + tw_i1) = tw_argmax_f32(13, x + (tw_i0 * 143) + tw_i1, 11);
        }
    }
}
