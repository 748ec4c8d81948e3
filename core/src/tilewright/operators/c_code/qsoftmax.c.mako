#include "qsoftmax.h"

/* One row: y = clamp((e + d / 2) / d + zero_point), d being the row's sum of exponentials times y_scale, rounded. */
TW_KERNEL void ${function}(const tw_qsoftmax p, const ${x_type} *x, const uint32_t *t, ${y_type} *y)
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
        y[i * p.y_step] = (${y_type})((q < p.low) ? p.low : ((q > p.high) ? p.high : q));
    }
}
