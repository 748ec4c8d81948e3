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

/* The nearest integer, halves to the even one; beyond 2^30 the nearest of the two ends; NaN becomes 0. */
TW_KERNEL int32_t tw_nearest(float x)
{
    if (!(x > -0x1.0p+30f)) {
        return (x < 0.0f) ? -(1 << 30) : 0;
    }
    if (!(x < 0x1.0p+30f)) {
        return 1 << 30;
    }
    const int32_t whole = (int32_t)x;
    const float rest = x - (float)whole; /* exact: the fraction of a float is a float */
    const int32_t odd = whole & 1;
    if ((rest > 0.5f) || ((rest == 0.5f) && (odd != 0))) {
        return whole + 1;
    }
    return ((rest < -0.5f) || ((rest == -0.5f) && (odd != 0))) ? (whole - 1) : whole;
}

/* x moved by the zero point, kept between low and high. */
TW_KERNEL int32_t tw_saturate(int32_t x, int32_t zero, int32_t low, int32_t high)
{
    const int32_t moved = x + zero;
    return (moved < low) ? low : ((moved > high) ? high : moved);
}

TW_KERNEL void tw_quantize_f32_i8_z_3(int32_t n0, int32_t n1, int32_t n2, const float *x_in, int32_t x0, int32_t x1,
        int32_t x2, const float *s_in, int32_t s0, int32_t s1, int32_t s2, const int8_t *z_in, int32_t z0, int32_t z1,
        int32_t z2, int8_t *y_out, int32_t y0, int32_t y1, int32_t y2)
{
    for (int32_t i0 = 0; i0 < n0; ++i0) {
        for (int32_t i1 = 0; i1 < n1; ++i1) {
            for (int32_t i2 = 0; i2 < n2; ++i2) {
                const float x = x_in[i0 * x0 + i1 * x1 + i2 * x2];
                const float s = s_in[i0 * s0 + i1 * s1 + i2 * s2];
                const int8_t z = z_in[i0 * z0 + i1 * z1 + i2 * z2];
                y_out[i0 * y0 + i1 * y1 + i2 * y2] = (int8_t)tw_saturate(tw_nearest(x / s), z, -128, 127);
            }
        }
    }
}

/* ---- steps ---- */

/* Step 0 of 1: QuantizeLinear
 *   nodes    quantizelinear_0
 *   kernel   portable.quantize
 *   X        f32[5,21,23]  ram [0, 9660)      quantizelinear_0_in0
 *   S        f32[21]       flash [16, 100)    quantizelinear_0.S
 *   Z        i8[21]        flash [100, 121)   quantizelinear_0.Z
 *   Y        i8[5,21,23]   ram [9660, 12075)  quantizelinear_0_out0
 */
TW_STEP void net_0_quantizelinear(const uint8_t *flash, uint8_t *ram)
{
    const float *const x = (const float *)(ram + IN_QUANTIZELINEAR_0_IN0);
    const float *const s = (const float *)(flash + QUANTIZELINEAR_0_S);
    const int8_t *const z = (const int8_t *)(flash + QUANTIZELINEAR_0_Z);
    int8_t *const y = (int8_t *)(ram + QUANTIZELINEAR_0_OUT);
    tw_quantize_f32_i8_z_3(5, 21, 23, x, 483, 23, 1, s, 0, 1, 0, z, 0, 1, 0, y, 483, 23, 1);
}
