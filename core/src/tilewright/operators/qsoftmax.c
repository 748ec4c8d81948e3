#ifndef TW_QSOFTMAX
#define TW_QSOFTMAX
typedef struct {
    int32_t count, x_step, y_step; /* elements of one row, and from one to the next */
    int32_t entries; /* of the table: differences from here on count for nothing */
    uint32_t scale; /* y_scale * 2^31 */
    int32_t zero_point, low, high;
} tw_qsoftmax;

/* The exponential of one element: t[d] where d is how far it lies below the row's largest. */
TW_KERNEL uint32_t tw_qsoftmax_entry(int32_t below, int32_t entries, const uint32_t *t)
{
    return below < entries ? t[below] : 0;
}
#endif

/* One row: y = clamp((e + d / 2) / d + zero_point), d being the row's sum of exponentials times y_scale, rounded. */
TW_KERNEL void ${function}(const tw_qsoftmax p, const ${x_type} *x, const uint32_t *t, ${y_type} *y)
{
    int32_t largest = x[0];
    for (int32_t i = 1; i < p.count; ++i) {
        largest = x[i * p.x_step] > largest ? x[i * p.x_step] : largest;
    }
    uint64_t sum = 0;
    for (int32_t i = 0; i < p.count; ++i) {
        sum += tw_qsoftmax_entry(largest - x[i * p.x_step], p.entries, t);
    }
    const uint32_t divisor = (uint32_t)((sum * p.scale + (UINT64_C(1) << 30)) >> 31);
    for (int32_t i = 0; i < p.count; ++i) {
        const uint32_t e = tw_qsoftmax_entry(largest - x[i * p.x_step], p.entries, t);
        const int32_t q = (int32_t)((e + divisor / 2) / divisor) + p.zero_point;
        y[i * p.y_step] = (${y_type})(q < p.low ? p.low : (q > p.high ? p.high : q));
    }
}
