#include "floor_shift.h"
#include "prelude.h"
#include <stdint.h>

/* delta * eta * a over eta * b + eps, to the nearest, halves away from zero. */
TW_KERNEL void tw_integer_quotient(int32_t count, const int32_t *a, int32_t a_step, const int32_t *b, int32_t b_step,
                                   int32_t *y, int32_t y_step, int64_t factor, int32_t eta, int32_t eps)
{
    for (int32_t i = 0; i < count; ++i) {
        const int64_t divisor = (int64_t)eta * b[i * b_step] + eps;
        const int64_t above = factor * a[i * a_step];
        const int64_t half = divisor / 2;
        y[i * y_step] = (int32_t)((above + ((above < 0) ? -half : half)) / divisor);
    }
}
