<%doc>
Needs limit (see kernels/finish.c), shift: whether sums are multiplied and shifted, and not multiplied as floats.
</%doc>\
#include "neureka_sums.h"

/* `table` has for each channel ${"a multiplier, an addend" if shift else "the bits of a scale"}, and a bias for each way in which a window leaves the image. */
TW_KERNEL void ${function}(tw_neureka_sums p, const int32_t *sums, const int32_t *table, uint8_t *y)
{
    for (int32_t i = 0; i < p.rows; ++i) {
        const int32_t row = p.first_row + i * p.stride;
        const int32_t down = ${"((row < 0) + 2 * (row > p.last_row)) * 4" if ways else "0"};
        for (int32_t j = 0; j < p.columns; ++j) {
            const int32_t column = p.first_column + j * p.stride;
            const int32_t way = ${"down + (column < 0) + 2 * (column > p.last_column)" if ways else "down"};
            const int32_t *from = sums + i * p.stride * p.sum_row + j * p.stride * p.sum_column;
            const int32_t *b = table;
            uint8_t *to = y + i * p.y_row + j * p.y_column;
% if not ways:
            (void)column;
            (void)row;
% endif
            for (int32_t o = 0; o < p.outputs; ++o) {
                const int32_t sum = (int32_t)((uint32_t)from[o] + (uint32_t)b[${2 if shift else 1} + way]);
% if shift:
                const int32_t moved = (int32_t)((uint32_t)sum * (uint32_t)b[0] + (uint32_t)b[1]) >> p.shift;
                to[o] = (uint8_t)(tw_xp_limited(moved, p.to.low, p.to.high) + p.to.zero_point);
% else:
                to[o] = tw_xp_finished_${limit}((float)sum * tw_xp_scale(b), p.to);
% endif
                b += p.words;
            }
        }
    }
}
