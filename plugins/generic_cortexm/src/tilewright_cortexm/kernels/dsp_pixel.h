#pragma once
#include <stdint.h>

/* Computes the results of one pixel of a depthwise convolution. `table` has the ways from `base` to its taps. */
typedef void tw_dsp_pixel(uintptr_t base, const uintptr_t *table, const uint32_t *w, const int32_t *parameters,
        uint8_t *y, int32_t channels, int32_t above, int32_t zero_point);
