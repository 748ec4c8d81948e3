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

/* y = requant(sum of x - zeros): n and x, y are the loops over outputs, m and r those over what is summed. */
TW_KERNEL void tw_qmean_i8_i8_1_1(int32_t n0, int32_t m0,
        const int8_t *x, int32_t x0, int32_t r0,
        int8_t *y, int32_t y0,
        int32_t zeros, int32_t word, tw_requant requant)
{
    for (int32_t i0 = 0; i0 < n0; ++i0) {
        const int8_t *const at = x + i0 * x0;
        int32_t sum = -zeros;
        for (int32_t j0 = 0; j0 < m0; ++j0) {
            sum += at[j0 * r0];
        }
        y[i0 * y0] = (int8_t)tw_requant_int32(sum, word, requant);
    }
}

/* ---- steps ---- */

/* Step 0 of 1: QReduceMean
 *   nodes    qreducemean_0
 *   kernel   portable.qreduce_mean
 *   X        i8[8,29,31]  ram [0, 7192)     qreducemean_0_in0
 *   Y        i8[8,1,1]    ram [7192, 7200)  qreducemean_0_out0
 */
TW_STEP void net_0_qreducemean(uint8_t *ram)
{
    const int8_t *const x = (const int8_t *)(ram + IN_QREDUCEMEAN_0_IN0);
    int8_t *const y = (int8_t *)(ram + QREDUCEMEAN_0_OUT);
    tw_qmean_i8_i8_1_1(8, 899, x, 899, 1, y, 1, 3596, -1138501878, (tw_requant){
        .shift = 52, .zero_point = -3, .low = -128, .high = 127, .fixed = 0, .exact = 1,
    });
}
