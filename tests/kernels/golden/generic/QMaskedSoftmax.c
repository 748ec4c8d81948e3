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
    /* elements of one row, and from one to the next */
    int32_t count;
    int32_t x_step;
    int32_t y_step;
    int32_t entries; /* of the table: differences from here on count for nothing */
    uint32_t scale; /* y_scale * 2^31 */
    int32_t zero_point;
    int32_t low;
    int32_t high;
} tw_qsoftmax;

/* The exponential of one element: t[d] where d is how far it lies below the row's largest. */
TW_KERNEL uint32_t tw_qsoftmax_entry(int32_t below, int32_t entries, const uint32_t *t)
{
    return (below < entries) ? t[below] : 0;
}

/* One row, of which elements count whose mask is 0: y = clamp((e + d / 2) / d + zero_point), d being the row's sum of
 * exponentials times y_scale, rounded; e is 0 of what does not count. */
TW_KERNEL void tw_qsoftmax_masked_i8_i8(const tw_qsoftmax p, const int8_t *x, const uint8_t *m, int32_t m_step,
        const uint32_t *t, int8_t *y)
{
    int32_t largest = -128;
    for (int32_t i = 0; i < p.count; ++i) {
        largest = ((m[i * m_step] == 0) && (x[i * p.x_step] > largest)) ? x[i * p.x_step] : largest;
    }
    uint64_t sum = 0;
    for (int32_t i = 0; i < p.count; ++i) {
        sum += (m[i * m_step] == 0) ? tw_qsoftmax_entry(largest - x[i * p.x_step], p.entries, t) : 0;
    }
    const uint32_t rounded = (uint32_t)(((sum * p.scale) + (UINT64_C(1) << 30)) >> 31);
    const uint32_t divisor = (rounded > 0) ? rounded : 1;
    for (int32_t i = 0; i < p.count; ++i) {
        const uint32_t e = (m[i * m_step] == 0) ? tw_qsoftmax_entry(largest - x[i * p.x_step], p.entries, t) : 0;
        const int32_t q = (int32_t)((e + (divisor / 2)) / divisor) + p.zero_point;
        y[i * p.y_step] = (int8_t)((q < p.low) ? p.low : ((q > p.high) ? p.high : q));
    }
}

/* ---- steps ---- */

/* Step 0 of 1: QMaskedSoftmax
 *   nodes    qmaskedsoftmax_0
 *   kernel   portable.qmasked_softmax
 *   X        i8[8,29,31]  ram [0, 7192)       qmaskedsoftmax_0_in0
 *   M        bool[29,31]  ram [14384, 15283)  qmaskedsoftmax_0_in1
 *   T        u32[256]     flash [16, 1040)    qmaskedsoftmax_0.T
 *   Y        i8[8,29,31]  ram [7192, 14384)   qmaskedsoftmax_0_out0
 */
TW_STEP void net_0_qmaskedsoftmax(const uint8_t *flash, uint8_t *ram)
{
    const int8_t *const x = (const int8_t *)(ram + IN_QMASKEDSOFTMAX_0_IN0);
    const uint8_t *const m_2 = (const uint8_t *)(ram + IN_QMASKEDSOFTMAX_0_IN1);
    const uint32_t *const t_2 = (const uint32_t *)(flash + QMASKEDSOFTMAX_0_T);
    int8_t *const y = (int8_t *)(ram + QMASKEDSOFTMAX_0_OUT);
    for (int32_t tw_i0 = 0; tw_i0 < 8; ++tw_i0) {
        for (int32_t tw_i1 = 0; tw_i1 < 29; ++tw_i1) {
            tw_qsoftmax_masked_i8_i8((tw_qsoftmax){
                .count = 31, .x_step = 1, .y_step = 1, .entries = 256, .scale = UINT32_C(8388608), .zero_point = -128,
                .low = -128, .high = 127,
            }, x + (tw_i0 * 899) + (tw_i1 * 31), m_2 + (tw_i1 * 31), 1, t_2, y + (tw_i0 * 899) + (tw_i1 * 31));
        }
    }
}
