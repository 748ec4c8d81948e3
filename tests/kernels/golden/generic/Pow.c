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

/* 2^x for |x| below 1000, by its series around the nearest integer. */
TW_KERNEL double tw_exp2(double x)
{
    const int32_t n = (int32_t)((x < 0.0) ? (x - 0.5) : (x + 0.5));
    const double f = x - (double)n;
    const double q = 0x1.0000000000000p+0
        + (f * (0x1.62e42fefa39efp-1
        + (f * (0x1.ebfbdff82c58ep-3
        + (f * (0x1.c6b08d704a0bfp-5
        + (f * (0x1.3b2ab6fba4e77p-7
        + (f * (0x1.5d87fe78a6730p-10
        + (f * (0x1.430912f86c786p-13
        + (f * (0x1.ffcbfc588b0c5p-17
        + (f * (0x1.62c0223a5c822p-20
        + (f * (0x1.b5253d395e7c1p-24
        + (f * (0x1.e4cf5158b8ec7p-28
        + (f * (0x1.e8cac7351bb22p-32
        + (f * 0x1.c3bd650fc2983p-36)))))))))))))))))))))));
    const union { uint64_t bits; double value; } power = {.bits = (uint64_t)(n + 1023) << 52};
    return q * power.value;
}

/* The logarithm to base 2 of a positive finite x in its normal range: x = 2^n m, by the series of atanh. */
TW_KERNEL double tw_log2(double x)
{
    union { double value; uint64_t bits; } part = {.value = x};
    const uint64_t moved = part.bits + (UINT64_C(0x3ff0000000000000) - UINT64_C(0x3fe6a09e667f3bcd));
    const int32_t n = (int32_t)(moved >> 52) - 1023;
    part.bits = (moved & UINT64_C(0x000fffffffffffff)) + UINT64_C(0x3fe6a09e667f3bcd);
    const double s = (part.value - 1.0) / (part.value + 1.0);
    const double z = s * s;
    const double q = 0x1.71547652b82fep+1
        + (z * (0x1.ec709dc3a03fdp-1
        + (z * (0x1.2776c50ef9bfep-1
        + (z * (0x1.a61762a7aded9p-2
        + (z * (0x1.484b13d7c02a9p-2
        + (z * (0x1.0c9a84994022dp-2
        + (z * (0x1.c68f568d31760p-3
        + (z * (0x1.89f3b1694cffep-3
        + (z * (0x1.5b9ac9b743f0dp-3
        + (z * (0x1.3703c1f4d0ffep-3
        + (z * 0x1.1964ec6fc9491p-3)))))))))))))))))));
    return (double)n + (s * q);
}

/* x to the power y, special values as in C's pow. The exponent is a double, which holds any float and any int32_t. */
TW_KERNEL float tw_powf(float x, double y)
{
    if ((y == 0.0) || (x == 1.0f)) {
        return 1.0f;
    }
    if ((x != x) || (y != y)) {
        return NAN;
    }
    const union { float value; uint32_t bits; } part = {.value = x};
    const float size = (x < 0.0f) ? -x : x;
    const int whole = !((y > -0x1.0p+53) && (y < 0x1.0p+53)) || ((double)(int64_t)y == y);
    const int odd = whole && (y > -0x1.0p+53) && (y < 0x1.0p+53) && (((int64_t)y & 1) != 0);
    float power;
    if ((size == 0.0f) || (size == INFINITY)) {
        power = ((size == 0.0f) == (y < 0.0)) ? INFINITY : 0.0f;
    } else if (!((y > -INFINITY) && (y < INFINITY))) {
        power = (size == 1.0f) ? 1.0f : (((size > 1.0f) == (y > 0.0)) ? INFINITY : 0.0f);
    } else if ((x < 0.0f) && !whole) {
        return NAN;
    } else {
        const double logarithm = y * tw_log2((double)size);
        power = (logarithm >= 128.0) ? INFINITY : ((logarithm < -150.0) ? 0.0f : (float)tw_exp2(logarithm));
    }
    return (odd && ((part.bits >> 31) != 0)) ? -power : power;
}

TW_KERNEL void tw_pow_f32_f32_3(int32_t n0, int32_t n1, int32_t n2, const float *a_in, int32_t a0, int32_t a1,
        int32_t a2, const float *b_in, int32_t b0, int32_t b1, int32_t b2, float *y_out, int32_t y0, int32_t y1,
        int32_t y2)
{
    for (int32_t i0 = 0; i0 < n0; ++i0) {
        for (int32_t i1 = 0; i1 < n1; ++i1) {
            for (int32_t i2 = 0; i2 < n2; ++i2) {
                const float a = a_in[i0 * a0 + i1 * a1 + i2 * a2];
                const float b = b_in[i0 * b0 + i1 * b1 + i2 * b2];
                y_out[i0 * y0 + i1 * y1 + i2 * y2] = tw_powf(a, (double)b);
            }
        }
    }
}

/* ---- steps ---- */

/* Step 0 of 1: Pow
 *   nodes    pow_0
 *   kernel   portable.pow
 *   A        f32[5,21,23]  ram [0, 9660)      pow_0_in0
 *   B        f32[21,1]     ram [9660, 9744)   pow_0_in1
 *   Y        f32[5,21,23]  ram [9744, 19404)  pow_0_out0
 */
TW_STEP void net_0_pow_x(uint8_t *ram)
{
    const float *const a = (const float *)(ram + IN_POW_0_IN0);
    const float *const b = (const float *)(ram + IN_POW_0_IN1);
    float *const y = (float *)(ram + POW_0_OUT);
    tw_pow_f32_f32_3(5, 21, 23, a, 483, 23, 1, b, 0, 1, 0, y, 483, 23, 1);
}
