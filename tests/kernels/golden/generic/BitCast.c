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

/* The bits of a float. */
TW_KERNEL uint32_t tw_bits_of_f32(float x)
{
    const union { float number; uint32_t bits; } both = {.number = x};
    return both.bits;
}

TW_KERNEL void tw_bits_f32_i32_1(int32_t n0, const float *x_in, int32_t x0, int32_t *y_out, int32_t y0)
{
    for (int32_t i0 = 0; i0 < n0; ++i0) {
        const float x = x_in[i0 * x0];
        y_out[i0 * y0] = (int32_t)tw_bits_of_f32(x);
    }
}

/* ---- steps ---- */

/* Step 0 of 1: BitCast
 *   nodes    bitcast_0
 *   kernel   portable.bit_cast
 *   X        f32[5,21,23]  ram [0, 9660)      bitcast_0_in0
 *   Y        i32[5,21,23]  ram [9660, 19320)  bitcast_0_out0
 */
TW_STEP void net_0_bitcast(uint8_t *ram)
{
    const float *const x = (const float *)(ram + IN_BITCAST_0_IN0);
    int32_t *const y = (int32_t *)(ram + BITCAST_0_OUT);
    tw_bits_f32_i32_1(2415, x, 1, y, 1);
}
