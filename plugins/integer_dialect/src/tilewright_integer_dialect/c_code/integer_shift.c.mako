#include "floor_shift.h"
#include "prelude.h"
#include <stdint.h>

/* Words of a channel: the multiplier, the shift, and what is added before it, half of the last step included, its
 * lower half first. */
TW_KERNEL void ${function}(int32_t count, const ${x_type} *x, int32_t x_step, const int32_t *words, int32_t words_step,
                           ${y_type} *y, int32_t y_step, int32_t low, int32_t high)
{
    for (int32_t i = 0; i < count; ++i) {
        const int32_t *w = words + i * words_step;
        const int64_t addend = ((int64_t)w[3] * (INT64_C(1) << 32)) + (int64_t)(uint32_t)w[2];
        const int64_t q = tw_floor_shift((int64_t)x[i * x_step] * w[0] + addend, w[1]);
        y[i * y_step] = (${y_type})((q < low) ? low : ((q > high) ? high : q));
    }
}
