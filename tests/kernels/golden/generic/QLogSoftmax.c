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

/* value / 2^shift, rounded down: >> of a negative number is the compiler's own. */
TW_KERNEL int64_t tw_floor_shift(int64_t value, int32_t shift)
{
    return (value < 0) ? ~(~value >> shift) : (value >> shift);
}

/* What a signed register of `bits` (below 64) holds of `value`. */
TW_KERNEL int64_t tw_wrapped(int64_t value, int32_t bits)
{
    const uint64_t half = UINT64_C(1) << (bits - 1);
    const uint64_t kept = ((uint64_t)value + half) & ((half << 1) - 1);
    return (int64_t)kept - (int64_t)half;
}

typedef struct {
    /* elements of one row, and from one to the next */
    int32_t count, x_step, y_step;
    int32_t entries; /* of the table: differences from here on count for nothing */
    /* steps of the result over 2^shift: of one of x, of a logarithm of 2, and what rounds */
    int32_t factor, of_two, addend, shift, low, high;
} tw_qlogsoftmax;

/* The logarithm to the base 2 of a number from 2^31 on, over 2^31, 20 bits behind the point: squares say bit by bit. */
TW_KERNEL int32_t tw_log2_of_sum(uint64_t sum)
{
    int32_t power = 0;
    while (sum >= (UINT64_C(1) << 32)) {
        sum >>= 1;
        power += 1;
    }
    int32_t result = power;
    for (int32_t bit = 0; bit < 20; ++bit) {
        sum = (sum * sum) >> 31;
        const uint64_t above = sum >> 32;
        sum >>= above;
        result = (result * 2) + (int32_t)above;
    }
    return result;
}

/* One row: y = the distance from the largest, less the logarithm of the sum of exponentials, in steps of the result. */
TW_KERNEL void tw_qlogsoftmax_i8_i8(const tw_qlogsoftmax p, const int8_t *x, const uint32_t *t, int8_t *y)
{
    int32_t largest = x[0];
    for (int32_t i = 1; i < p.count; ++i) {
        largest = (x[i * p.x_step] > largest) ? x[i * p.x_step] : largest;
    }
    uint64_t sum = 0;
    for (int32_t i = 0; i < p.count; ++i) {
        const int32_t below = largest - x[i * p.x_step];
        sum += (below < p.entries) ? t[below] : 0;
    }
    const int32_t log = (int32_t)(((int64_t)tw_log2_of_sum(sum) * p.of_two) >> 20);
    for (int32_t i = 0; i < p.count; ++i) {
        const int32_t acc = p.addend - log - ((largest - x[i * p.x_step]) * p.factor);
        const int32_t q = (int32_t)tw_floor_shift(acc, p.shift);
        y[i * p.y_step] = (int8_t)((q < p.low) ? p.low : ((q > p.high) ? p.high : q));
    }
}

/* ---- steps ---- */

/* Step 0 of 1: QLogSoftmax
 *   nodes    qlogsoftmax_0
 *   kernel   portable.qlog_softmax
 *   X        i8[8,29,31]  ram [0, 7192)      qlogsoftmax_0_in0
 *   T        u32[256]     flash [16, 1040)   qlogsoftmax_0.T
 *   Y        i8[8,29,31]  ram [7192, 14384)  qlogsoftmax_0_out0
 */
TW_STEP void net_0_qlogsoftmax(const uint8_t *flash, uint8_t *ram)
{
    const int8_t *const x = (const int8_t *)(ram + IN_QLOGSOFTMAX_0_IN0);
    const uint32_t *const t_2 = (const uint32_t *)(flash + QLOGSOFTMAX_0_T);
    int8_t *const y = (int8_t *)(ram + QLOGSOFTMAX_0_OUT);
    for (int32_t tw_i0 = 0; tw_i0 < 232; ++tw_i0) {
        tw_qlogsoftmax_i8_i8((tw_qlogsoftmax){
            .count = 31, .x_step = 1, .y_step = 1, .entries = 256, .factor = 873813, .of_two = 12113625,
            .addend = 133693440, .shift = 20, .low = -128, .high = 127,
        }, x + (tw_i0 * 31), t_2, y + (tw_i0 * 31));
    }
}
