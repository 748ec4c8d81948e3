#include "prelude.h"
#include <stdint.h>

/* Energies x in overlapping channels: w of one goes to its channel, u of it to the next. */
TW_KERNEL void tw_signal_filterbank(int32_t channels, const uint32_t *x, int32_t x_step, const int16_t *w,
                                    int32_t w_step, const int16_t *u, int32_t u_step, const int16_t *first,
                                    int32_t first_step, const int16_t *place, int32_t place_step,
                                    const int16_t *width, int32_t width_step, uint64_t *y, int32_t y_step)
{
    uint64_t carried = 0;
    for (int32_t channel = 0; channel <= channels; ++channel) {
        uint64_t sum = carried;
        const int32_t bin = first[channel * first_step];
        const int32_t at = place[channel * place_step];
        carried = 0;
        for (int32_t i = 0; i < width[channel * width_step]; ++i) {
            const uint64_t energy = x[(bin + i) * x_step];
            sum += energy * (uint64_t)(int64_t)w[(at + i) * w_step];
            carried += energy * (uint64_t)(int64_t)u[(at + i) * u_step];
        }
        if (channel > 0) { /* what is below the first channel is only carried on */
            y[(channel - 1) * y_step] = sum;
        }
    }
}
