#include "floor_shift.h"
#include "prelude.h"
#include <stdint.h>

/* x shifted to the left as far as 16 bits hold it. -32768 counts as itself: what comes behind it decides. */
TW_KERNEL void tw_signal_scale(int32_t count, const int16_t *x, int32_t x_step, int16_t *y, int32_t y_step,
                               int32_t *bits)
{
    int32_t most = 0;
    for (int32_t i = 0; i < count; ++i) {
        const int32_t v = x[i * x_step];
        if (v > most) {
            most = v;
        } else if (-v > most) {
            most = (v == INT16_MIN) ? v : -v;
        }
    }
    int32_t shift = 0;
    while ((most > 0) && (most < 0x4000)) {
        most *= 2;
        ++shift;
    }
    for (int32_t i = 0; i < count; ++i) {
        y[i * y_step] = (int16_t)tw_wrapped(x[i * x_step] * ((int32_t)1 << shift), 16);
    }
    *bits = shift;
}
