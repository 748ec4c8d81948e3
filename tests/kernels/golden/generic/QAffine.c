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

typedef struct {
    int32_t x_zero_point, shift, zero_point, low, high;
} tw_qaffine;

/* The sum fits 32 bits, which was checked when this was generated; >> of a negative number is the compiler's own. */
TW_KERNEL int32_t tw_qaffine_rounded(int32_t distance, int32_t factor, int32_t addend, tw_qaffine p)
{
    const int32_t sum = (distance * factor) + addend;
    const int32_t q = (sum < 0) ? ~(~sum >> p.shift) : (sum >> p.shift);
    return (q < p.low) ? p.low : ((q > p.high) ? p.high : q);
}

/* The same, and halves, which leave nothing behind the shift, go to the even distance from the zero point. */
TW_KERNEL int32_t tw_qaffine_even(int32_t distance, int32_t factor, int32_t addend, tw_qaffine p)
{
    const int32_t sum = (distance * factor) + addend;
    const int32_t floor = (sum < 0) ? ~(~sum >> p.shift) : (sum >> p.shift);
    const uint32_t left = (uint32_t)sum & ((UINT32_C(1) << p.shift) - 1);
    const int32_t q = ((left == 0) && (((floor - p.zero_point) % 2) != 0)) ? (floor - 1) : floor;
    return (q < p.low) ? p.low : ((q > p.high) ? p.high : q);
}

TW_KERNEL void tw_qaffine_rounded_by_sign_i8_i8_2(int32_t n0, int32_t n1, const int8_t *x_in, int32_t x0, int32_t x1,
        const int32_t *f_in, int32_t f0, int32_t f1, const int32_t *a_in, int32_t a0, int32_t a1, const int32_t *g_in,
        int32_t g0, int32_t g1, int8_t *y_out, int32_t y0, int32_t y1, tw_qaffine p)
{
    for (int32_t i0 = 0; i0 < n0; ++i0) {
        for (int32_t i1 = 0; i1 < n1; ++i1) {
            const int8_t x = x_in[i0 * x0 + i1 * x1];
            const int32_t f = f_in[i0 * f0 + i1 * f1];
            const int32_t a = a_in[i0 * a0 + i1 * a1];
            const int32_t g = g_in[i0 * g0 + i1 * g1];
            y_out[i0 * y0 + i1 * y1] = (int8_t)tw_qaffine_rounded(x - p.x_zero_point, ((x - p.x_zero_point) < 0) ? g
                : f, a, p);
        }
    }
}

/* ---- steps ---- */

/* Step 0 of 1: QAffine
 *   nodes    qaffine_0
 *   kernel   portable.qaffine
 *   X        i8[8,29,31]  ram [0, 7192)      qaffine_0_in0
 *   F        i32[8,1,1]   flash [80, 112)    qaffine_0.F
 *   A        i32[8,1,1]   flash [16, 48)     qaffine_0.A
 *   G        i32[8,1,1]   flash [48, 80)     qaffine_0.G
 *   Y        i8[8,29,31]  ram [7192, 14384)  qaffine_0_out0
 */
TW_STEP void net_0_qaffine(const uint8_t *flash, uint8_t *ram)
{
    const int8_t *const x = (const int8_t *)(ram + IN_QAFFINE_0_IN0);
    const int32_t *const f = (const int32_t *)(flash + QAFFINE_0_F);
    const int32_t *const a = (const int32_t *)(flash + QAFFINE_0_A);
    const int32_t *const g = (const int32_t *)(flash + QAFFINE_0_G);
    int8_t *const y = (int8_t *)(ram + QAFFINE_0_OUT);
    tw_qaffine_rounded_by_sign_i8_i8_2(8, 899, x, 899, 1, f, 1, 0, a, 1, 0, g, 1, 0, y, 899, 1, (tw_qaffine){
        .x_zero_point = 3, .shift = 21, .zero_point = 0, .low = -128, .high = 127,
    });
}
