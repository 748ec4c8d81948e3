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

/* One row: y = clamp((e + d / 2) / d + zero_point), d being the row's sum of exponentials times y_scale, rounded. */
TW_KERNEL void tw_qsoftmax_i8_i8(const tw_qsoftmax p, const int8_t *x, const uint32_t *t, int8_t *y)
{
    int32_t largest = x[0];
    for (int32_t i = 1; i < p.count; ++i) {
        largest = (x[i * p.x_step] > largest) ? x[i * p.x_step] : largest;
    }
    uint64_t sum = 0;
    for (int32_t i = 0; i < p.count; ++i) {
        sum += tw_qsoftmax_entry(largest - x[i * p.x_step], p.entries, t);
    }
    const uint32_t divisor = (uint32_t)(((sum * p.scale) + (UINT64_C(1) << 30)) >> 31);
    for (int32_t i = 0; i < p.count; ++i) {
        const uint32_t e = tw_qsoftmax_entry(largest - x[i * p.x_step], p.entries, t);
        const int32_t q = (int32_t)((e + (divisor / 2)) / divisor) + p.zero_point;
        y[i * p.y_step] = (int8_t)((q < p.low) ? p.low : ((q > p.high) ? p.high : q));
    }
}

/* ---- steps ---- */

/* Step 0 of 1: QSoftmax
 *   nodes    qsoftmax_0
 *   kernel   portable.qsoftmax
 *   X        i8[8,29,31]  ram [0, 7192)      qsoftmax_0_in0
 *   T        u32[256]     flash [16, 1040)   qsoftmax_0.T
 *   Y        i8[8,29,31]  ram [7192, 14384)  qsoftmax_0_out0
 */
TW_STEP void net_0_qsoftmax(const uint8_t *flash, uint8_t *ram)
{
    const int8_t *const x = (const int8_t *)(ram + IN_QSOFTMAX_0_IN0);
    const uint32_t *const t_2 = (const uint32_t *)(flash + QSOFTMAX_0_T);
    int8_t *const y = (int8_t *)(ram + QSOFTMAX_0_OUT);
    for (int32_t tw_i0 = 0; tw_i0 < 232; ++tw_i0) {
        tw_qsoftmax_i8_i8((tw_qsoftmax){
            .count = 31, .x_step = 1, .y_step = 1, .entries = 256, .scale = UINT32_C(8388608), .zero_point = -128,
            .low = -128, .high = 127,
        }, x + (tw_i0 * 31), t_2, y + (tw_i0 * 31));
    }
}
