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

TW_KERNEL void tw_dequantize_i8_f32_z_3(int32_t n0, int32_t n1, int32_t n2, const int8_t *x_in, int32_t x0, int32_t x1,
        int32_t x2, const float *s_in, int32_t s0, int32_t s1, int32_t s2, const int8_t *z_in, int32_t z0, int32_t z1,
        int32_t z2, float *y_out, int32_t y0, int32_t y1, int32_t y2)
{
    for (int32_t i0 = 0; i0 < n0; ++i0) {
        for (int32_t i1 = 0; i1 < n1; ++i1) {
            for (int32_t i2 = 0; i2 < n2; ++i2) {
                const int8_t x = x_in[i0 * x0 + i1 * x1 + i2 * x2];
                const float s = s_in[i0 * s0 + i1 * s1 + i2 * s2];
                const int8_t z = z_in[i0 * z0 + i1 * z1 + i2 * z2];
                y_out[i0 * y0 + i1 * y1 + i2 * y2] = (float)((int32_t)x - z) * s;
            }
        }
    }
}

/* ---- steps ---- */

/* Step 0 of 1: DequantizeLinear
 *   nodes    dequantizelinear_0
 *   kernel   portable.dequantize
 *   X        i8[9,21,23]   ram [17388, 21735)  dequantizelinear_0_in0
 *   S        f32[21]       flash [16, 100)     dequantizelinear_0.S
 *   Z        i8[21]        flash [100, 121)    dequantizelinear_0.Z
 *   Y        f32[9,21,23]  ram [0, 17388)      dequantizelinear_0_out0
 */
TW_STEP void net_0_dequantizelinear(const uint8_t *flash, uint8_t *ram)
{
    const int8_t *const x = (const int8_t *)(ram + IN_DEQUANTIZELINEAR_0_IN0);
    const float *const s = (const float *)(flash + DEQUANTIZELINEAR_0_S);
    const int8_t *const z = (const int8_t *)(flash + DEQUANTIZELINEAR_0_Z);
    float *const y = (float *)(ram + DEQUANTIZELINEAR_0_OUT);
    tw_dequantize_i8_f32_z_3(9, 21, 23, x, 483, 23, 1, s, 0, 1, 0, z, 0, 1, 0, y, 483, 23, 1);
}
