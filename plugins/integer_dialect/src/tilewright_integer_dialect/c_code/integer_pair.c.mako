#include "floor_shift.h"
#include "prelude.h"
#include <stdint.h>

/* ((a ${sign} b) * multiplier + addend) >> shift, clipped; the addend has half of the last step. */
TW_KERNEL void ${function}(int32_t count, const ${a_type} *a, int32_t a_step, const ${b_type} *b, int32_t b_step,
                           ${y_type} *y, int32_t y_step, int32_t multiplier, ${wide} addend, int32_t shift, int32_t low,
                           int32_t high)
{
    for (int32_t i = 0; i < count; ++i) {
        const int32_t sum = (int32_t)a[i * a_step] ${sign} (int32_t)b[i * b_step];
% if wide == "int32_t":
        const int32_t v = sum * multiplier + addend;
        const int32_t q = (v < 0) ? ~(~v >> shift) : (v >> shift);
% else:
        const int64_t q = tw_floor_shift((int64_t)sum * multiplier + addend, shift);
% endif
        y[i * y_step] = (${y_type})((q < low) ? low : ((q > high) ? high : q));
    }
}
