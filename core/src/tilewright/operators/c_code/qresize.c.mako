#include "line.h"

/* Every output between its neighbours: their weights are whole numbers, whose sum the requantisation divides by. */
TW_KERNEL void ${function}(const tw_resize_linear p, int32_t zeros, ${rounding.word_type}word, tw_requant requant,
        const ${x_type} *x, ${y_type} *y)
{
    for (int32_t n = 0; n < p.batches; ++n) {
        for (int32_t j = 0; j < p.row.outputs; ++j) {
            const tw_neighbours row = tw_line_at(&p.row, j);
            for (int32_t k = 0; k < p.column.outputs; ++k) {
                const tw_neighbours column = tw_line_at(&p.column, k);
                const ${x_type} *const xn = x + (n * p.x_batch);
                ${y_type} *const yn = y + (n * p.y_batch) + (j * p.row.y_step) + (k * p.column.y_step);
                const int32_t left = p.column.divisor - column.share;
                for (int32_t c = 0; c < p.channels; ++c) {
                    const ${x_type} *const above = xn + (c * p.x_channel) + row.before;
                    const ${x_type} *const below = xn + (c * p.x_channel) + row.after;
                    const int32_t upper = (above[column.before] * left) + (above[column.after] * column.share);
                    const int32_t lower = (below[column.before] * left) + (below[column.after] * column.share);
                    const int32_t acc = (upper * (p.row.divisor - row.share)) + (lower * row.share) - zeros;
                    yn[c * p.y_channel] = (${y_type})${rounding.handed("acc", "word", "requant")};
                }
            }
        }
    }
}
