#include "floor_shift.h"
#include "prelude.h"
#include <stdint.h>

/* By how much log2(1 + f) is more than f, for f in 128ths, in 65536ths. */
static const int16_t tw_signal_excess[${len(excess)}] = {
% for first in range(0, len(excess), 16):
    ${", ".join(str(each) for each in excess[first : first + 16])},
% endfor
};

/* scale * ln(v), v of at least 2. */
TW_KERNEL uint32_t tw_signal_logarithm(uint32_t v, uint32_t scale)
{
    int32_t whole = 31;
    while ((v >> whole) == 0u) {
        --whole;
    }
    const uint32_t fraction = (uint32_t)(((uint64_t)(v - (UINT32_C(1) << whole)) << 16) >> whole);
    const uint32_t piece = fraction >> 9;
    const int32_t low = tw_signal_excess[piece];
    const int32_t rise = tw_signal_excess[piece + 1u] - low;
    const int64_t between = tw_floor_shift((int64_t)rise * (int32_t)(fraction & 0x1FFu), 16);
    const uint64_t log2 = ((uint64_t)whole << 16) + (uint64_t)((int64_t)fraction + low + between);
    const uint32_t natural = (uint32_t)((45426u * log2 + 0x8000u) >> 16); /* ln(2) * 2^16 */
    return (scale * natural + 0x8000u) >> 16;
}

TW_KERNEL void tw_signal_log(int32_t count, const uint32_t *x, int32_t x_step, int16_t *y, int32_t y_step, int32_t bits,
                             uint32_t scale)
{
    for (int32_t i = 0; i < count; ++i) {
        const uint32_t v = x[i * x_step] << bits;
        const uint32_t found = (v > 1u) ? tw_signal_logarithm(v, scale) : 0u;
        y[i * y_step] = (int16_t)((found < (uint32_t)INT16_MAX) ? found : (uint32_t)INT16_MAX);
    }
}
