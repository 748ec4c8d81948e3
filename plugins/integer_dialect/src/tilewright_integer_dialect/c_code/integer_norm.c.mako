#include "floor_shift.h"
#include "integer_root.h"
#include "prelude.h"
#include <stdint.h>

/* One row: ((x - mean) * w / root(variance + 1) + bias) >> shift, each quotient truncated. */
TW_KERNEL void ${function}(int32_t count, const ${x_type} *x, int32_t x_step, const int32_t *w, int32_t w_step,
% if centred:
                           const int32_t *bias, int32_t bias_step,
% endif
                           ${y_type} *y, int32_t y_step, int32_t shift, int32_t low, int32_t high)
{
    int64_t squares = 0;
% if centred:
    int64_t sum = 0;
    for (int32_t i = 0; i < count; ++i) {
        sum += x[i * x_step];
    }
    const int64_t mean = sum / count;
% else:
    const int64_t mean = 0;
% endif
    for (int32_t i = 0; i < count; ++i) {
        const int64_t v = x[i * x_step] - mean;
        squares += v * v;
    }
    const int64_t root = tw_integer_root(squares / count + 1);
    for (int32_t i = 0; i < count; ++i) {
        const int64_t scaled = (x[i * x_step] - mean) * w[i * w_step] / root;
% if centred:
        const int64_t q = tw_floor_shift(scaled + bias[i * bias_step], shift);
% else:
        const int64_t q = tw_floor_shift(scaled, shift);
% endif
        y[i * y_step] = (${y_type})((q < low) ? low : ((q > high) ? high : q));
    }
}
