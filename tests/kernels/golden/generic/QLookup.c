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

TW_KERNEL void tw_qlookup_i8_i8_1(int32_t n0, const int8_t *x_in, int32_t x0, int8_t *y_out, int32_t y0,
        const int8_t * t)
{
    for (int32_t i0 = 0; i0 < n0; ++i0) {
        const int8_t x = x_in[i0 * x0];
        y_out[i0 * y0] = t[x + 128];
    }
}

/* ---- steps ---- */

/* Step 0 of 1: QLookup
 *   nodes    qlookup_0
 *   kernel   portable.qlookup
 *   X        i8[8,29,31]  ram [0, 7192)      qlookup_0_in0
 *   T        i8[256]      flash [16, 272)    qlookup_0.T
 *   Y        i8[8,29,31]  ram [7192, 14384)  qlookup_0_out0
 */
TW_STEP void net_0_qlookup(const uint8_t *flash, uint8_t *ram)
{
    const int8_t *const x = (const int8_t *)(ram + IN_QLOOKUP_0_IN0);
    const int8_t *const t_2 = (const int8_t *)(flash + QLOOKUP_0_T);
    int8_t *const y = (int8_t *)(ram + QLOOKUP_0_OUT);
    tw_qlookup_i8_i8_1(7192, x, 1, y, 1, t_2);
}
