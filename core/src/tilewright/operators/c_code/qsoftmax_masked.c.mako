#include "qsoftmax.h"

/* One row, of which elements count whose mask is 0: y = clamp((e + d / 2) / d + zero_point), d being the row's sum of
 * exponentials times y_scale, rounded; e is 0 of what does not count. */
TW_KERNEL void ${function}(const tw_qsoftmax p, const ${x_type} *x, const uint8_t *m, int32_t m_step, const uint32_t *t,
        ${y_type} *y)
{
    int32_t largest = ${lowest};
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
        y[i * p.y_step] = (${y_type})((q < p.low) ? p.low : ((q > p.high) ? p.high : q));
    }
}
