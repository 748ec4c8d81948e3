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

/* A copy of x, and then one update after the other; a place outside it changes nothing. */
TW_KERNEL void tw_scatter_add_f32(int32_t elements, int32_t count, int32_t slice, const float *x, const int64_t *places,
                           const float *updates, float *y)
{
    for (int32_t i = 0; i < elements; ++i) {
        y[i] = x[i];
    }
    for (int32_t i = 0; i < count; ++i) {
        if ((places[i] < 0) || (places[i] > (elements - slice))) {
            continue;
        }
        float *const target = y + places[i];
        for (int32_t k = 0; k < slice; ++k) {
            const float update = updates[(i * slice) + k];
            const float old = target[k];
            target[k] = old + update;
        }
    }
}

/* ---- steps ---- */

/* Step 0 of 1: Scatter
 *   nodes    scatter_0
 *   kernel   portable.scatter
 *   X        f32[5,7,13]  ram [540, 2360)   scatter_0_in0
 *   I        i64[9]       ram [0, 72)       scatter_0_in1
 *   U        f32[9,13]    ram [72, 540)     scatter_0_in2
 *   Y        f32[5,7,13]  ram [2360, 4180)  scatter_0_out0
 */
TW_STEP void net_0_scatter(uint8_t *ram)
{
    const float *const x = (const float *)(ram + IN_SCATTER_0_IN0);
    const int64_t *const i_x = (const int64_t *)(ram + IN_SCATTER_0_IN1);
    const float *const u_2 = (const float *)(ram + IN_SCATTER_0_IN2);
    float *const y = (float *)(ram + SCATTER_0_OUT);
    tw_scatter_add_f32(455, 9, 13, x, i_x, u_2, y);
}
