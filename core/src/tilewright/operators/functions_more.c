/* Further functions of our own. One blank line between functions, none inside: kernels take only what they call.
 * Coefficients: tools/function_coefficients.py. */

/* 2^n and the n of x = 2^n m, sqrt(1/2) <= m < sqrt(2), for positive finite x; m by its bits. */
TW_KERNEL float tw_split(float x, int32_t *n)
{
    union { float value; uint32_t bits; } part = {.value = x};
    int32_t exponent = 0;
    if (part.bits < UINT32_C(0x00800000)) { /* below the normal range */
        part.value = x * 0x1.0p+24f;
        exponent = -24;
    }
    const uint32_t moved = part.bits + (UINT32_C(0x3f800000) - UINT32_C(0x3f3504f3));
    exponent += (int32_t)(moved >> 23) - 127;
    part.bits = (moved & UINT32_C(0x007fffff)) + UINT32_C(0x3f3504f3);
    *n = exponent;
    return part.value;
}

/* log(x): x = 2^n (1 + f), log(x) = n ln2 + f - f^2/2 + f^3 q(f). */
TW_KERNEL float tw_logf(float x)
{
    if (!(x > 0.0f && x < INFINITY)) {
        return x == 0.0f ? -INFINITY : (x > 0.0f ? x : NAN);
    }
    int32_t n;
    const float f = tw_split(x, &n) - 1.0f;
    const float k = (float)n;
    const float q = 0x1.5555640000000p-2f
        + f * (-0x1.00023e0000000p-2f
        + f * (0x1.9998680000000p-3f
        + f * (-0x1.54670e0000000p-3f
        + f * (0x1.2362f00000000p-3f
        + f * (-0x1.0e6ba20000000p-3f
        + f * (0x1.0267a60000000p-3f
        + f * -0x1.2d435c0000000p-4f))))));
    const float rest = f * f * (f * q - 0.5f) + k * 0x1.7f7d1c0000000p-20f;
    return k * 0x1.62e4000000000p-1f + (f + rest);
}

/* exp(x) - 1 without cancellation: x = n ln2 + r, exp(x) - 1 = 2^n (r + r^2 q(r) + 1 - 2^-n). */
TW_KERNEL float tw_expm1f(float x)
{
    if (!(x > -18.0f)) {
        return x < 0.0f ? -1.0f : x;
    }
    if (x > 89.0f) {
        return INFINITY;
    }
    const float scaled = x * 0x1.7154760000000p+0f;
    const int32_t n = (int32_t)(scaled < 0.0f ? scaled - 0.5f : scaled + 0.5f);
    const float r = (x - (float)n * 0x1.62e4000000000p-1f) - (float)n * 0x1.7f7d1c0000000p-20f;
    const float q = 0x1.0000000000000p-1f
        + r * (0x1.5555540000000p-3f
        + r * (0x1.5554f00000000p-5f
        + r * (0x1.1113080000000p-7f
        + r * (0x1.6d436e0000000p-10f
        + r * 0x1.9e07820000000p-13f))));
    const float p = r + r * r * q;
    if (n == 0) {
        return p;
    }
    const float mantissa = p + (1.0f - (n > 40 ? 0.0f : tw_exp2_int(-n)));
    const int32_t half = n / 2;
    return mantissa * tw_exp2_int(half) * tw_exp2_int(n - half);
}

/* tanh(x) = t / (t + 2), t = exp(2x) - 1. */
TW_KERNEL float tw_tanhf(float x)
{
    const float size = x < 0.0f ? -x : x;
    if (!(size < 10.0f)) {
        return x < 0.0f ? -1.0f : (x > 0.0f ? 1.0f : x);
    }
    const float t = tw_expm1f(2.0f * size);
    const float y = t / (t + 2.0f);
    return x < 0.0f ? -y : y;
}

/* 1 / (1 + exp(-x)), by an exponential that cannot overflow. */
TW_KERNEL float tw_sigmoidf(float x)
{
    const float e = tw_expf(x < 0.0f ? x : -x);
    return (x < 0.0f ? e : 1.0f) / (1.0f + e);
}

/* log(1 + exp(x)) = max(x, 0) + log(1 + u), u = exp(-|x|); log(1 + u) = 2 atanh(u / (2 + u)). */
TW_KERNEL float tw_softplusf(float x)
{
    const float u = tw_expf(x < 0.0f ? x : -x);
    const float s = u / (2.0f + u);
    const float z = s * s;
    const float q = 0x1.5555000000000p-2f
        + z * (0x1.99d2700000000p-3f
        + z * (0x1.1eb8160000000p-3f
        + z * 0x1.1eeb2c0000000p-3f));
    const float y = 2.0f * (s + s * z * q);
    return x > 0.0f ? x + y : y;
}

/* exp(-x^2 / 2) without the error that squaring makes: x = h + l, h^2 exact. For |x| < 16. */
TW_KERNEL float tw_bell(float x)
{
    const float h = (float)(int32_t)(x * 256.0f) * 0x1.0p-8f;
    const float d = (x - h) * (x + h) * 0.5f; /* below 2^-4 */
    const float e = tw_expf(-0.5f * h * h);
    return e - e * (d * (1.0f - d * (0.5f - d * (0x1.5555560000000p-3f - d * (0x1.5555560000000p-5f)))));
}

/* The part of the normal distribution beyond x >= 0, times a factor: exp(-x^2 / 2) p(x),
 * p(x) = q(x - 1) near 0 and t q(t) beyond, t = 1 / (1 + x/4). */
TW_KERNEL float tw_upper_tail(float x, float factor)
{
    if (!(x < 14.5f)) {
        return x >= 14.5f ? 0.0f : x;
    }
    if (x < 2.0f) {
        const float d = x - 1.0f;
        const float p = 0x1.0bdb2e0000000p-2f
            + d * (-0x1.19524c0000000p-3f
            + d * (0x1.fcc8180000000p-5f
            + d * (-0x1.9aff640000000p-6f
            + d * (0x1.2f493a0000000p-7f
            + d * (-0x1.9f3bfa0000000p-9f
            + d * (0x1.09f8c20000000p-10f
            + d * (-0x1.3d4e8e0000000p-12f
            + d * (0x1.7207ae0000000p-14f
            + d * (-0x1.e834320000000p-16f
            + d * 0x1.e3043a0000000p-18f)))))))));
        return tw_bell(x) * p * factor;
    }
    const float t = 1.0f / (1.0f + 0.25f * x);
    const float q = 0x1.988f060000000p-4f
        + t * (0x1.9796140000000p-4f
        + t * (0x1.87e37c0000000p-4f
        + t * (0x1.1c253a0000000p-4f
        + t * (0x1.a0fda80000000p-4f
        + t * (-0x1.1edbc40000000p-5f
        + t * (0x1.e4af420000000p-4f
        + t * -0x1.9547b60000000p-5f))))));
    return tw_bell(x) * (t * q * factor);
}

/* erf(x): x + x q(x^2) below 7/8, from the tail of the normal distribution above. */
TW_KERNEL float tw_erff(float x)
{
    const float size = x < 0.0f ? -x : x;
    if (size < 0.875f) {
        const float z = x * x;
        const float q = 0x1.06eba80000000p-3f
        + z * (-0x1.8127420000000p-2f
        + z * (0x1.ce2e000000000p-4f
        + z * (-0x1.b80fd80000000p-6f
        + z * (0x1.54e2740000000p-8f
        + z * (-0x1.ab8e600000000p-11f
        + z * 0x1.6248520000000p-14f)))));
        return x + x * q;
    }
    const float y = 1.0f - tw_upper_tail(size * 0x1.6a09e60000000p+0f, 2.0f);
    return x < 0.0f ? -y : y;
}

/* x times the part of the normal distribution below x. */
TW_KERNEL float tw_geluf(float x)
{
    if (x < 0.0f) {
        return x > -14.5f ? tw_upper_tail(-x, x) : -0.0f;
    }
    return x * (1.0f - tw_upper_tail(x, 1.0f));
}

/* The tanh form of gelu, as x times a sigmoid. */
TW_KERNEL float tw_gelu_tanhf(float x)
{
    const float z = x * (0x1.9884540000000p+0f + 0x1.2444f20000000p-4f * (x * x));
    return x < -20.0f ? -0.0f : x * tw_sigmoidf(z);
}

/* x sigmoid(alpha x). */
TW_KERNEL float tw_swishf(float x, float alpha)
{
    const float s = tw_sigmoidf(alpha * x);
    return s == 0.0f ? s * (x < 0.0f ? -1.0f : 1.0f) : x * s;
}

/* x tanh(log(1 + exp(x))) = x n / (n + 2), n = exp(x) (exp(x) + 2). */
TW_KERNEL float tw_mishf(float x)
{
    if (x > 20.0f) {
        return x;
    }
    if (x < -110.0f) {
        return -0.0f;
    }
    const float e = tw_expf(x);
    const float n = e * (e + 2.0f);
    return x * (n / (n + 2.0f));
}

/* The square root, correctly rounded, bit by bit: no unit and no library is asked. */
TW_KERNEL float tw_sqrtf(float x)
{
    union { float value; uint32_t bits; } part = {.value = x};
    if (!(x > 0.0f && x < INFINITY)) {
        return x < 0.0f ? NAN : x;
    }
    int32_t exponent = 0;
    if (part.bits < UINT32_C(0x00800000)) {
        part.value = x * 0x1.0p+24f;
        exponent = -24;
    }
    exponent += (int32_t)(part.bits >> 23) - 127;
    uint32_t rest = (part.bits & UINT32_C(0x007fffff)) | UINT32_C(0x00800000);
    if ((exponent & 1) != 0) {
        rest <<= 1;
        exponent -= 1;
    }
    uint32_t root = 0;
    uint32_t sum = 0;
    for (uint32_t bit = UINT32_C(0x01000000); bit != 0; bit >>= 1) {
        rest <<= 1;
        if (sum + bit <= rest) {
            sum += 2 * bit;
            rest -= sum - bit;
            root += bit;
        }
    }
    root = (root + (root & 1)) >> 1; /* 25 bits to 24: no root of a float lies half-way */
    part.bits = ((uint32_t)(exponent / 2 + 126) << 23) + root;
    return part.value;
}

/* x without its fraction, towards zero; floats of 2^23 and more have none. */
TW_KERNEL float tw_truncf(float x)
{
    if (!(x > -0x1.0p+23f && x < 0x1.0p+23f)) {
        return x;
    }
    const float whole = (float)(int32_t)x;
    return whole == 0.0f ? x * 0.0f : whole; /* keeps the sign of zero */
}

/* The largest integer not above x. */
TW_KERNEL float tw_floorf(float x)
{
    const float whole = tw_truncf(x);
    return whole > x ? whole - 1.0f : whole;
}

/* The smallest integer not below x. */
TW_KERNEL float tw_ceilf(float x)
{
    const float whole = tw_truncf(x);
    return whole < x ? whole + 1.0f : whole;
}

/* The nearest integer, halves to the even one. */
TW_KERNEL float tw_roundf(float x)
{
    const float whole = tw_truncf(x);
    const float rest = x - whole;
    const float size = rest < 0.0f ? -rest : rest;
    if (!(size >= 0.5f)) {
        return whole;
    }
    const int32_t odd = (int32_t)whole & 1;
    if (size > 0.5f || odd != 0) {
        return rest < 0.0f ? whole - 1.0f : whole + 1.0f;
    }
    return whole;
}
