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

/* The square root, correctly rounded, bit by bit: no unit and no library is asked. */
TW_KERNEL float tw_sqrtf(float x)
{
    union { float value; uint32_t bits; } part = {.value = x};
    if (!((x > 0.0f) && (x < INFINITY))) {
        return (x < 0.0f) ? NAN : x;
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
        if ((sum + bit) <= rest) {
            sum += 2 * bit;
            rest -= sum - bit;
            root += bit;
        }
    }
    root = (root + (root & 1)) >> 1; /* 25 bits to 24: no root of a float lies half-way */
    part.bits = ((uint32_t)((exponent / 2) + 126) << 23) + root;
    return part.value;
}

/* One row: y = (x - mean) / sqrt(mean((x - mean)^2) + epsilon) * scale + shift; without `centred` the mean is 0.
 * The mean is the first element and the mean of all distances from it: exact where all are equal.
 * The addresses of scale and shift may be 0: 1 and 0 then. */
TW_KERNEL void tw_layer_normalization_f32(int32_t count, int32_t centred, float epsilon, const float *x, int32_t x_step,
                                          const float *scale, const float *shift, float *y, int32_t y_step)
{
    float mean = 0.0f;
    float variance = 0.0f;
    if (centred && (count > 0)) {
        const float first = x[0];
        for (int32_t i = 1; i < count; ++i) {
            mean += x[i * x_step] - first;
        }
        mean = first + (mean / (float)count);
    }
    for (int32_t i = 0; i < count; ++i) {
        const float d = x[i * x_step] - mean;
        variance += d * d;
    }
    const float factor = 1.0f / tw_sqrtf((variance / (float)count) + epsilon);
    for (int32_t i = 0; i < count; ++i) {
        const float even = (x[i * x_step] - mean) * factor;
        y[i * y_step] = (scale ? (even * scale[i]) : even) + (shift ? shift[i] : 0.0f);
    }
}

/* ---- steps ---- */

/* Step 0 of 1: LayerNormalization
 *   nodes    layernormalization_0
 *   kernel   portable.layer_normalization_f32
 *   X        f32[3,37,29]  ram [0, 12876)      layernormalization_0_in0
 *   Scale    f32[29]       flash [132, 248)    layernormalization_0.Scale
 *   B        f32[29]       flash [16, 132)     layernormalization_0.B
 *   Y        f32[3,37,29]  ram [12876, 25752)  layernormalization_0_out0
 */
TW_STEP void net_0_layernormalization(const uint8_t *flash, uint8_t *ram)
{
    const float *const x = (const float *)(ram + IN_LAYERNORMALIZATION_0_IN0);
    const float *const scale = (const float *)(flash + LAYERNORMALIZATION_0_SCALE);
    const float *const b = (const float *)(flash + LAYERNORMALIZATION_0_B);
    float *const y = (float *)(ram + LAYERNORMALIZATION_0_OUT);
    for (int32_t tw_i0 = 0; tw_i0 < 111; ++tw_i0) {
        tw_layer_normalization_f32(29, 1, 0x1.4f8b580000000p-17f, x + (tw_i0 * 29), 1, scale, b, y + (tw_i0 * 29), 1);
    }
}
