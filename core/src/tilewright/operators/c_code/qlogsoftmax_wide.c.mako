#include "qlogsoftmax_wide.h"

/* One row: y = the distance from the largest, less the logarithm of the sum of exponentials, in steps of the result. */
TW_KERNEL void ${function}(const tw_qlogsoftmax_wide p, const ${x_type} *x, const uint32_t *t, ${y_type} *y)
{
    int32_t largest = x[0];
    for (int32_t i = 1; i < p.count; ++i) {
        largest = (x[i * p.x_step] > largest) ? x[i * p.x_step] : largest;
    }
    uint64_t sum = 0;
    for (int32_t i = 0; i < p.count; ++i) {
        sum += tw_qlogsoftmax_entry(largest - x[i * p.x_step], t);
    }
    const int64_t log = (tw_log2_of_sum(sum) * p.of_two) >> 20;
    for (int32_t i = 0; i < p.count; ++i) {
        const int64_t acc = p.addend - log - ((largest - x[i * p.x_step]) * p.factor);
        const int64_t q = (acc < 0) ? ~(~acc >> p.shift) : (acc >> p.shift);
        y[i * p.y_step] = (${y_type})((q < p.low) ? p.low : ((q > p.high) ? p.high : q));
    }
}
