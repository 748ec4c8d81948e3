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

/* Without the fraction; what does not fit becomes the nearest that does; NaN becomes 0. */
TW_KERNEL int8_t tw_f32_to_i8(float x)
{
    if (x >= 0x1.0000000000000p+7f) {
        return INT8_MAX;
    }
    if (x > -0x1.0000000000000p+7f) {
        return (int8_t)x;
    }
    return x <= -0x1.0000000000000p+7f ? INT8_MIN : (int8_t)0;
}

TW_KERNEL void tw_cast_f32_i8_1(int32_t n0, const float *x_in, int32_t x0, int8_t *y_out, int32_t y0)
{
    for (int32_t i0 = 0; i0 < n0; ++i0) {
        const float x = x_in[i0 * x0];
        y_out[i0 * y0] = tw_f32_to_i8(x);
    }
}

/* ---- steps ---- */

/* Step 0 of 1: Cast
 *   nodes    cast_0
 *   kernel   portable.cast
 *   X        f32[5,21,23]  ram [0, 9660)      cast_0_in0
 *   Y        i8[5,21,23]   ram [9660, 12075)  cast_0_out0
 */
TW_STEP void net_0_cast(uint8_t *ram)
{
    const float *const x = (const float *)(ram + IN_CAST_0_IN0);
    int8_t *const y = (int8_t *)(ram + CAST_0_OUT);
    tw_cast_f32_i8_1(2415, x, 1, y, 1);
}
