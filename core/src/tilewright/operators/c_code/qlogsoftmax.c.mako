#include "qlogsoftmax.h"

/* One row: y = the distance from the largest, less the logarithm of the sum of exponentials, in steps of the result. */
TW_KERNEL void ${function}(const tw_qlogsoftmax p, const ${x_type} *x, const uint32_t *t, ${y_type} *y)
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
        y[i * p.y_step] = (${y_type})((q < p.low) ? p.low : ((q > p.high) ? p.high : q));
    }
}
