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

/* x without its fraction, towards zero; floats of 2^23 and more have none. */
TW_KERNEL float tw_truncf(float x)
{
    if (!((x > -0x1.0p+23f) && (x < 0x1.0p+23f))) {
        return x;
    }
    const float whole = (float)(int32_t)x;
    return (whole == 0.0f) ? (x * 0.0f) : whole; /* keeps the sign of zero */
}

/* The nearest integer, halves to the even one. */
TW_KERNEL float tw_roundf(float x)
{
    const float whole = tw_truncf(x);
    const float rest = x - whole;
    const float size = (rest < 0.0f) ? -rest : rest;
    if (!(size >= 0.5f)) {
        return whole;
    }
    const int32_t odd = (int32_t)whole & 1;
    if ((size > 0.5f) || (odd != 0)) {
        return (rest < 0.0f) ? (whole - 1.0f) : (whole + 1.0f);
    }
    return whole;
}

/* Scale and zero point with which 0 to 255 reach from the smallest value, or 0, to the largest, or 0. */
TW_KERNEL void tw_dynamic_scale(float smallest, float largest, float *scale, uint8_t *zero_point)
{
    const float low = (smallest > 0.0f) ? 0.0f : smallest;
    const float high = (largest < 0.0f) ? 0.0f : largest;
    const float span = high - low;
    const float step = (span == 0.0f) ? 1.0f : (span / 255.0f);
    const float below = 0.0f - (low / step);
    const float inside = (below >= 0.0f) ? ((below > 255.0f) ? 255.0f : below) : 0.0f;
    *scale = step;
    *zero_point = (uint8_t)tw_roundf(inside);
}

/* ---- steps ---- */

/* Step 0 of 1: DynamicScale
 *   nodes    dynamicscale_0
 *   kernel   portable.dynamic_scale
 *   L        f32[9,21]  ram [0, 756)      dynamicscale_0_in0
 *   H        f32[9,21]  ram [756, 1512)   dynamicscale_0_in1
 *   S        f32[9,21]  ram [1512, 2268)  dynamicscale_0_out0
 *   Z        u8[9,21]   ram [2268, 2457)  dynamicscale_0_out1
 */
TW_STEP void net_0_dynamicscale(uint8_t *ram)
{
    const float *const l_2 = (const float *)(ram + IN_DYNAMICSCALE_0_IN0);
    const float *const h = (const float *)(ram + IN_DYNAMICSCALE_0_IN1);
    float *const s = (float *)(ram + DYNAMICSCALE_0_OUT);
    uint8_t *const z = ram + DYNAMICSCALE_0_OUT_Z;
    for (int32_t tw_i0 = 0; tw_i0 < 189; ++tw_i0) {
        tw_dynamic_scale((l_2 + tw_i0)[0], (h + tw_i0)[0], s + tw_i0, z + tw_i0);
    }
}
