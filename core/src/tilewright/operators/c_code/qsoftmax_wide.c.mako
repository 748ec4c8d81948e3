#include "prelude.h"
#include <stdint.h>

typedef struct {
    /* elements of one row, and from one to the next */
    int32_t count;
    int32_t x_step;
    int32_t y_step;
    uint32_t scale; /* y_scale * 2^31 */
    int32_t zero_point;
    int32_t low;
    int32_t high;
} ${function}_row;

/* The exponential of one element that lies so far below the row's largest, in 31 bits: a product of two. */
TW_KERNEL uint64_t ${function}_entry(int32_t below, const uint32_t *t)
{
    return (((uint64_t)t[below / 256] * t[256 + (below % 256)]) + (UINT64_C(1) << 30)) >> 31;
}

% if masked:
/* One row, of which elements count whose mask is 0; the others are 0 in what follows.
 * y = clamp((e * 2^16 + u / 2) / u + zero_point), u being the 2^15th part of their sum times y_scale. */
TW_KERNEL void ${function}(const ${function}_row p, const ${x_type} *x, const uint8_t *m, int32_t m_step,
        const uint32_t *t, ${y_type} *y)
{
    int32_t largest = ${lowest};
    for (int32_t i = 0; i < p.count; ++i) {
        largest = ((m[i * m_step] == 0) && (x[i * p.x_step] > largest)) ? x[i * p.x_step] : largest;
    }
    uint64_t sum = 0;
    for (int32_t i = 0; i < p.count; ++i) {
        sum += (m[i * m_step] == 0) ? ${function}_entry(largest - x[i * p.x_step], t) : 0;
    }
    const uint64_t whole = ((sum + (UINT64_C(1) << 14)) >> 15) * p.scale;
    const uint64_t unit = (whole > 0) ? whole : 1;
    for (int32_t i = 0; i < p.count; ++i) {
        const uint64_t e = (m[i * m_step] == 0) ? (${function}_entry(largest - x[i * p.x_step], t) << 16) : 0;
% else:
/* One row: y = clamp((e * 2^16 + u / 2) / u + zero_point), u being the 2^15th part of their sum times y_scale. */
TW_KERNEL void ${function}(const ${function}_row p, const ${x_type} *x, const uint32_t *t, ${y_type} *y)
{
    int32_t largest = x[0];
    for (int32_t i = 1; i < p.count; ++i) {
        largest = (x[i * p.x_step] > largest) ? x[i * p.x_step] : largest;
    }
    uint64_t sum = 0;
    for (int32_t i = 0; i < p.count; ++i) {
        sum += ${function}_entry(largest - x[i * p.x_step], t);
    }
    const uint64_t unit = ((sum + (UINT64_C(1) << 14)) >> 15) * p.scale;
    for (int32_t i = 0; i < p.count; ++i) {
        const uint64_t e = ${function}_entry(largest - x[i * p.x_step], t) << 16;
% endif
        const int64_t q = (int64_t)((e + (unit / 2)) / unit) + p.zero_point;
        y[i * p.y_step] = (${y_type})((q < p.low) ? p.low : ((q > p.high) ? p.high : q));
    }
}
