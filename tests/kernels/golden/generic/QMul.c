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

/* An integer accumulator becomes a value of 8 or 16 bits: clamp(rne((float)acc * scale) + zero_point, low, high). */
typedef struct {
    int32_t shift;
    int32_t zero_point;
    int32_t low;
    int32_t high;
    /* whether any channel of the layer uses this form */
    int32_t fixed;
    int32_t exact;
} tw_requant;

/* (acc * multiplier + half) >> shift, proved equal to the formula at compile time for every accumulator that can occur.
 * Adding 2^62 keeps the dividend positive, where >> is defined; it is taken away again with the zero point. */
TW_KERNEL int32_t tw_requant_fixed(int64_t product, tw_requant p)
{
    const uint64_t above = (UINT64_C(1) << 62) + (UINT64_C(1) << (p.shift - 1));
    const uint64_t shifted = ((uint64_t)product + above) >> p.shift;
    if (p.shift >= 33) { /* fits: 32-bit arithmetic from here */
        const int32_t q = (int32_t)shifted - ((int32_t)1 << ((62 - p.shift) & 31)) + p.zero_point;
        return (q < p.low) ? p.low : ((q > p.high) ? p.high : q);
    }
    const int64_t q = (int64_t)shifted - (INT64_C(1) << (62 - p.shift)) + p.zero_point;
    return (q < p.low) ? p.low : ((q > p.high) ? p.high : (int32_t)q);
}

/* clamp(rne(v), low, high), the limits below 2^22. Adding 3 * 2^22 leaves no bit for a fraction: the addition rounds,
 * to nearest even, and the integer is in the low bits of the sum. A target may bring its own. */
#ifndef TW_ROUND_CLAMPED
TW_KERNEL int32_t tw_round_clamped(float v, int32_t low, int32_t high)
{
    const float least = (float)low;
    const float most = (float)high;
    const float inside = (v < least) ? least : ((v > most) ? most : v);
    const union { float value; int32_t bits; } sum = {.value = inside + 12582912.0f};
    return sum.bits - INT32_C(0x4b400000);
}
#  define TW_ROUND_CLAMPED tw_round_clamped
#endif

/* The formula itself. */
TW_KERNEL int32_t tw_requant_exact(float acc, int32_t word, tw_requant p)
{
    const union { uint32_t bits; float value; } scale = {.bits = (uint32_t)word & UINT32_C(0x7fffffff)};
    return TW_ROUND_CLAMPED(acc * scale.value, p.low - p.zero_point, p.high - p.zero_point) + p.zero_point;
}

/* `word` is the multiplier, or with the sign bit set the bits of the scale. */
TW_KERNEL int32_t tw_requant_int32(int32_t acc, int32_t word, tw_requant p)
{
    if (p.fixed && (!p.exact || (word >= 0))) {
        return tw_requant_fixed((int64_t)acc * word, p);
    }
    return tw_requant_exact((float)acc, word, p);
}

TW_KERNEL void tw_qmul_i8_i8_i8_3(int32_t n0, int32_t n1, int32_t n2, const int8_t *a_in, int32_t a0, int32_t a1,
        int32_t a2, const int8_t *b_in, int32_t b0, int32_t b1, int32_t b2, int8_t *y_out, int32_t y0, int32_t y1,
        int32_t y2, int32_t a_zero_point, int32_t b_zero_point, int32_t word, tw_requant p)
{
    for (int32_t i0 = 0; i0 < n0; ++i0) {
        for (int32_t i1 = 0; i1 < n1; ++i1) {
            for (int32_t i2 = 0; i2 < n2; ++i2) {
                const int8_t a = a_in[i0 * a0 + i1 * a1 + i2 * a2];
                const int8_t b = b_in[i0 * b0 + i1 * b1 + i2 * b2];
                y_out[i0 * y0 + i1 * y1 + i2 * y2] = (int8_t)tw_requant_int32((a - a_zero_point) * (b - b_zero_point),
                    word, p);
            }
        }
    }
}

/* ---- steps ---- */

/* Step 0 of 1: QMul
 *   nodes    qmul_0
 *   kernel   portable.qmul
 *   A        i8[8,29,31]  ram [0, 7192)      qmul_0_in0
 *   B        i8[8,1,31]   ram [7192, 7440)   qmul_0_in1
 *   Y        i8[8,29,31]  ram [7440, 14632)  qmul_0_out0
 */
TW_STEP void net_0_qmul(uint8_t *ram)
{
    const int8_t *const a = (const int8_t *)(ram + IN_QMUL_0_IN0);
    const int8_t *const b = (const int8_t *)(ram + IN_QMUL_0_IN1);
    int8_t *const y = (int8_t *)(ram + QMUL_0_OUT);
    tw_qmul_i8_i8_i8_3(8, 29, 31, a, 899, 31, 1, b, 31, 0, 1, y, 899, 31, 1, 3, -5, -1138501878, (tw_requant){
        .shift = 52, .zero_point = -3, .low = -128, .high = 127, .fixed = 0, .exact = 1,
    });
}
