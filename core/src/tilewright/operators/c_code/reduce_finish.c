#include "prelude.h"
#include <stdint.h>

/* From sums to means. */
TW_KERNEL void tw_reduce_finish_f32(int32_t kept, float divisor, float *y, int32_t y_kept)
{
    for (int32_t k = 0; k < kept; ++k) {
        y[k * y_kept] /= divisor;
    }
}
