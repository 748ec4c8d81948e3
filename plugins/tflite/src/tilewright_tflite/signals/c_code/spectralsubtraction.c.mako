#include "prelude.h"
#include <stdint.h>

/* x without the estimated noise, but at least a share of it. Channels at even and odd places forget at two speeds. */
TW_KERNEL void tw_signal_spectralsubtraction(
    int32_t count, const uint32_t *x, int32_t x_step, const uint32_t *noise, int32_t noise_step, uint32_t *y,
    int32_t y_step, uint32_t *next, int32_t next_step, const uint32_t share[2], const uint32_t rest[2], uint32_t least,
    int32_t bits, int32_t scale_bits, int32_t clamp)
{
    for (int32_t i = 0; i < count; ++i) {
        const uint32_t v = x[i * x_step];
        const uint32_t scaled = v << bits;
        const uint64_t mixed =
            (uint64_t)scaled * share[i & 1] + (uint64_t)noise[i * noise_step] * rest[i & 1];
        const uint32_t estimate = (uint32_t)(mixed >> scale_bits);
        const uint32_t taken = (estimate > scaled) ? scaled : estimate;
        const uint32_t lowest = (uint32_t)(((uint64_t)v * least) >> scale_bits);
        const uint32_t kept = (scaled - taken) >> bits;
        y[i * y_step] = (kept > lowest) ? kept : lowest;
        next[i * next_step] = (clamp != 0) ? taken : estimate;
    }
}
