<%doc>
Needs function, x_type, y_type, centred (whether means are taken), bits: 32 where nothing leaves them, for cores divide 64
bits in hundreds of instructions.
</%doc>\
<% whole = f"int{bits}_t" %>\
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
    ${whole} squares = 0;
% if centred:
    ${whole} sum = 0;
    for (int32_t i = 0; i < count; ++i) {
        sum += x[i * x_step];
    }
    const ${whole} mean = sum / count;
% else:
    const ${whole} mean = 0;
% endif
    for (int32_t i = 0; i < count; ++i) {
        const ${whole} v = x[i * x_step] - mean;
        squares += v * v;
    }
    const ${whole} root = tw_integer_root${"_32" if bits == 32 else ""}(squares / count + 1);
    for (int32_t i = 0; i < count; ++i) {
        const ${whole} scaled = (x[i * x_step] - mean) * w[i * w_step] / root;
% if centred:
        const ${whole} q = tw_floor_shift${"_32" if bits == 32 else ""}(scaled + bias[i * bias_step], shift);
% else:
        const ${whole} q = tw_floor_shift${"_32" if bits == 32 else ""}(scaled, shift);
% endif
        y[i * y_step] = (${y_type})((q < low) ? low : ((q > high) ? high : q));
    }
}
