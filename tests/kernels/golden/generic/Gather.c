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

/* A position counted from the end where it is negative; the nearest one where there is none. */
TW_KERNEL int32_t tw_gathered(int64_t index, int32_t extent)
{
    const int64_t position = (index < 0) ? (index + extent) : index;
    return (position < 0) ? 0 : ((position < extent) ? (int32_t)position : (extent - 1));
}

TW_KERNEL void tw_gather_f32_i64_2(int32_t n0, int32_t n1, const float *x, int32_t x0, int32_t x1, const int64_t *i,
        int32_t i0, int32_t i1, float *y, int32_t y0, int32_t y1, int32_t extent, int32_t step)
{
    for (int32_t k0 = 0; k0 < n0; ++k0) {
        for (int32_t k1 = 0; k1 < n1; ++k1) {
            const int32_t position = tw_gathered((int64_t)i[k0 * i0 + k1 * i1], extent);
            y[k0 * y0 + k1 * y1] = x[k0 * x0 + k1 * x1 + (position * step)];
        }
    }
}

/* ---- steps ---- */

/* Step 0 of 1: Gather
 *   nodes    gather_0
 *   kernel   portable.gather
 *   X        f32[9,14,22]    ram [0, 11088)      gather_0_in0
 *   I        i64[4,5]        ram [11088, 11248)  gather_0_in1
 *   Y        f32[4,5,14,22]  ram [11248, 35888)  gather_0_out0
 */
TW_STEP void net_0_gather(uint8_t *ram)
{
    const float *const x = (const float *)(ram + IN_GATHER_0_IN0);
    const int64_t *const i_x = (const int64_t *)(ram + IN_GATHER_0_IN1);
    float *const y = (float *)(ram + GATHER_0_OUT);
    tw_gather_f32_i64_2(20, 308, x, 0, 1, i_x, 1, 0, y, 308, 1, 9, 308);
}
