<%doc> Needs function, four and one (names of blocks). </%doc>\
#include "mve_float_matmul.h"

/* Rows four at a time, then one by one; the last four columns again where they do not come in fours. `p` is of the
 * first block. */
TW_KERNEL void ${function}(const tw_float_columns p, int32_t rows, int32_t columns)
{
    int32_t count = 0;
    for (int32_t i = 0; i < rows; i += count) {
        count = ((i + 4) <= rows) ? 4 : 1;
        tw_float_columns c = p;
        c.a = tw_float_at(p.a, i * p.a_row);
        c.y = p.y + (i * (p.y_row / 4));
        tw_float_columns last = c;
        ((count == 4) ? ${four} : ${one})(&c);
        if (columns & 3) {
            last.b += columns - 4;
            last.y += columns - 4;
            last.blocks = 1;
            ((count == 4) ? ${four} : ${one})(&last);
        }
    }
}
