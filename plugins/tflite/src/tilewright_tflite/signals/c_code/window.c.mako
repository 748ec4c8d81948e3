#include "floor_shift.h"
#include "prelude.h"
#include <stdint.h>

/* x * w >> shift, saturated. */
TW_KERNEL void tw_signal_window(int32_t count, const int16_t *x, int32_t x_step, const int16_t *w, int32_t w_step,
                                int16_t *y, int32_t y_step, int32_t shift)
{
    for (int32_t i = 0; i < count; ++i) {
        const int64_t v = tw_floor_shift((int64_t)x[i * x_step] * w[i * w_step], shift);
        y[i * y_step] = (int16_t)((v < INT16_MIN) ? INT16_MIN : ((v > INT16_MAX) ? INT16_MAX : v));
    }
}
