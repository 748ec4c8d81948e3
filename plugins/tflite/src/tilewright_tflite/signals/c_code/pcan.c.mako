#include "floor_shift.h"
#include "prelude.h"
#include <stdint.h>

/* A polynomial of the second degree for each power of two. */
TW_KERNEL uint32_t tw_signal_gain(uint32_t noise, const int16_t *table, int32_t step)
{
    if (noise <= 2u) {
        return (uint32_t)(int32_t)table[(int32_t)noise * step];
    }
    int32_t interval = 0;
    for (uint32_t v = noise; v != 0u; v >>= 1) {
        ++interval;
    }
    const int32_t place = 4 * interval - 6;
    const uint32_t moved = (interval < 11) ? (noise << (11 - interval)) : (noise >> (interval - 11));
    const int64_t fraction = (int64_t)(moved & 0x3FFu);
    const int64_t bend = tw_floor_shift(table[(place + 2) * step] * fraction, 5);
    const int64_t slope = bend + (int64_t)table[(place + 1) * step] * 32;
    const int64_t risen = tw_floor_shift(tw_wrapped(slope * fraction, 32) + 0x4000, 15);
    return (uint32_t)(int32_t)tw_wrapped(risen + table[place * step], 16);
}

/* x by the gain for its noise; below 2 x^2 / 4, above x - 1. */
TW_KERNEL void tw_signal_pcan(int32_t count, const uint32_t *x, int32_t x_step, const uint32_t *noise,
                              int32_t noise_step, const int16_t *table, int32_t table_step, uint32_t *y,
                              int32_t y_step, int32_t snr_shift)
{
    for (int32_t i = 0; i < count; ++i) {
        const uint64_t gain = tw_signal_gain(noise[i * noise_step], table, table_step);
        const uint32_t snr = (uint32_t)((x[i * x_step] * gain) >> snr_shift);
        y[i * y_step] = (snr < 0x2000u) ? ((snr * snr) >> 20) : ((snr >> 6) - 64u);
    }
}
