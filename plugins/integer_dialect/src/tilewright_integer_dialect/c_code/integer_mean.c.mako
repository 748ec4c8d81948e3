#include "floor_shift.h"
#include "prelude.h"
#include <stdint.h>

/* The mean to the nearest: halves up where the count is a power of two (`shift`), else away from zero. */
TW_KERNEL void ${function}(int32_t count, const ${x_type} *x, int32_t x_step, ${x_type} *y, int32_t shift)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < count; ++i) {
        sum += x[i * x_step];
    }
    if (shift >= 0) {
        *y = (${x_type})tw_floor_shift(sum + count / 2, shift);
    } else {
        *y = (${x_type})((sum + ((sum < 0) ? -(count / 2) : (count / 2))) / count);
    }
}
