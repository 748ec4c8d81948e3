#include "prelude.h"
#include <stdint.h>

/* The squared magnitude of bins from `first` to `end`. */
TW_KERNEL void tw_signal_energy(int32_t first, int32_t end, int32_t count, const int16_t *x, int32_t x_step, uint32_t *y,
                                int32_t y_step)
{
    for (int32_t i = 0; i < count; ++i) {
        const int32_t re = x[2 * i * x_step];
        const int32_t im = x[(2 * i + 1) * x_step];
        const uint32_t squares = (uint32_t)(re * re) + (uint32_t)(im * im);
        y[i * y_step] = ((i >= first) && (i < end)) ? squares : 0u;
    }
}
