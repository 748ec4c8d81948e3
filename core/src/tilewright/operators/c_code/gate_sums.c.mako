<%doc> Needs sums, a name that carries x_type, total and rows: how many rows are summed at once. </%doc>\
#include "prelude.h"
#include <stdint.h>

/* Products of x with ${"rows of w that are `apart`, added to as many sums" if rows > 1 else "w, added to a sum"}. */
TW_KERNEL void ${sums}(const ${x_type} *x, const int8_t *w${", int32_t apart" if rows > 1 else ""}, int32_t count, ${total} *sum)
{
% for row in range(rows):
    ${total} sum${row} = sum[${row}];
% endfor
    for (int32_t k = 0; k < count; ++k) {
        const int32_t xk = x[k];
% for row in range(rows):
        sum${row} += xk * w[k${"" if row == 0 else " + apart" if row == 1 else f" + ({row} * apart)"}];
% endfor
    }
% for row in range(rows):
    sum[${row}] = sum${row};
% endfor
}
