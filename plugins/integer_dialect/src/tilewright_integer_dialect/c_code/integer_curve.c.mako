#include "prelude.h"
#include <stdint.h>

% if curve == "gelu":
/* x * ((one + sign(x) * (one - (min(|x|, -b) + b)^2)) >> 1): the dialect's GELU. */
TW_KERNEL void ${function}(int32_t count, const ${x_type} *x, int32_t x_step, int32_t *y, int32_t y_step, int32_t b,
                           int32_t one)
{
    for (int32_t i = 0; i < count; ++i) {
        const int32_t v = (int32_t)x[i * x_step];
        const int32_t d = ((v < b) || (v > -b)) ? 0 : (((v < 0) ? -v : v) + b);
        const int32_t curve = one - d * d;
        const int32_t twice = (v < 0) ? (one - curve) : (one + curve);
        y[i * y_step] = v * ((twice - (twice & 1)) / 2);
    }
}
% else:
/* x * (clip(x + three, 0, six) * one_over_six): the dialect's HardSwish. */
TW_KERNEL void ${function}(int32_t count, const ${x_type} *x, int32_t x_step, int32_t *y, int32_t y_step, int32_t three,
                           int32_t six, int32_t one_over_six)
{
    for (int32_t i = 0; i < count; ++i) {
        const int32_t v = (int32_t)x[i * x_step];
        const int64_t moved = (int64_t)v + three;
        const int32_t gate = (moved < 0) ? 0 : ((moved > six) ? six : (int32_t)moved);
        y[i * y_step] = v * (gate * one_over_six);
    }
}
% endif
