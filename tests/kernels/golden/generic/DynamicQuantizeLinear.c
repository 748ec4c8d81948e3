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

/* The smallest and the largest value so far, and those of a row; NaN where one is NaN. */
TW_KERNEL void tw_dynamic_ends(int32_t count, const float *x, int32_t x_step, float *ends)
{
    float low = ends[0];
    float high = ends[1];
    for (int32_t i = 0; i < count; ++i) {
        const float value = x[i * x_step];
        low = ((value < low) || (value != value)) ? value : low;
        high = ((value > high) || (value != value)) ? value : high;
    }
    ends[0] = low;
    ends[1] = high;
}

/* y = x / scale, the nearest integer, halves to the even one, moved by the zero point into 0 to 255. */
TW_KERNEL void tw_dynamic_bytes(int32_t count, const float *x, int32_t x_step, float scale, int32_t zero, uint8_t *y,
                                int32_t y_step)
{
    for (int32_t i = 0; i < count; ++i) {
        y[i * y_step] = (uint8_t)tw_saturate(tw_nearest(x[i * x_step] / scale), zero, 0, 255);
    }
}

/* ---- steps ---- */

/* Step 0 of 1: DynamicQuantizeLinear
 *   nodes    dynamicquantizelinear_0
 *   kernel   portable.dynamic_quantize
 *   X        f32[5,7,11]  ram [0, 1540)     dynamicquantizelinear_0_in0
 *   Y        u8[5,7,11]   ram [1540, 1925)  dynamicquantizelinear_0_out0
 *   S        f32[]        ram [1928, 1932)  dynamicquantizelinear_0_out1
 *   Z        u8[]         ram [1932, 1933)  dynamicquantizelinear_0_out2
 */
TW_STEP void net_0_dynamicquantizelinear(uint8_t *ram)
{
    const float *const x = (const float *)(ram + IN_DYNAMICQUANTIZELINEAR_0_IN0);
    uint8_t *const y = ram + DYNAMICQUANTIZELINEAR_0_OUT;
    float *const s = (float *)(ram + DYNAMICQUANTIZELINEAR_0_OUT_S);
    uint8_t *const z = ram + DYNAMICQUANTIZELINEAR_0_OUT_Z;
    {
            float tw_ends[2] = {0.0f, 0.0f};
            tw_dynamic_ends(385, x, 1, tw_ends);
            tw_dynamic_scale(tw_ends[0], tw_ends[1], s, z);
            tw_dynamic_bytes(385, x, 1, *(s), *(z), y, 1);
        }
}
