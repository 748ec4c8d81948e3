#include "prelude.h"
#include <stdint.h>

/* The root to the nearest, a bit at a time; at most 16 bits of it where v has 32. */
TW_KERNEL uint32_t tw_signal_root(uint64_t v)
{
    const uint64_t most = ((v >> 32) == 0u) ? 0xFFFFu : 0xFFFFFFFFu;
    uint64_t rest = v;
    uint64_t root = 0;
    for (uint64_t bit = UINT64_C(1) << ((most == 0xFFFFu) ? 30 : 62); bit != 0u; bit >>= 2) {
        if (rest >= root + bit) {
            rest -= root + bit;
            root = (root >> 1) + bit;
        } else {
            root >>= 1;
        }
    }
    return (uint32_t)(root + (((rest > root) && (root != most)) ? 1u : 0u));
}

TW_KERNEL void tw_signal_squareroot(int32_t count, const uint64_t *x, int32_t x_step, int32_t bits, uint32_t *y,
                                    int32_t y_step)
{
    for (int32_t i = 0; i < count; ++i) {
        y[i * y_step] = tw_signal_root(x[i * x_step]) >> (bits & 31);
    }
}
