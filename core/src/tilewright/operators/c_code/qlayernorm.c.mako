#include "qlayernorm.h"

/* One row: the distance of each element from the mean, over the deviation, times f, plus a. */
TW_KERNEL void ${function}(tw_qlayernorm p, const ${x_type} *x, const int32_t *f, const int32_t *a, ${y_type} *y)
{
    int32_t sum = 0;
    int64_t squares = 0;
    for (int32_t b = 0; b < p.blocks; ++b) {
        for (int32_t i = 0; i < p.count; ++i) {
            const int32_t d = x[(b * p.x_block) + (i * p.x_step)] - p.x_zero_point;
            sum += d;
            squares += ${square};
        }
    }
    const int32_t n = p.blocks * p.count;
    const tw_qlayernorm_row row = tw_qlayernorm_row_of(n, sum, squares, &p);
    for (int32_t b = 0; b < p.blocks; ++b) {
        for (int32_t i = 0; i < p.count; ++i) {
            const int32_t d = x[(b * p.x_block) + (i * p.x_step)] - p.x_zero_point;
            const int32_t factor = f[(b * p.f_block) + (i * p.f_step)];
            const int32_t addend = a[(b * p.a_block) + (i * p.a_step)];
            const int32_t q = tw_qlayernorm_element((n * d) - row.sum, row, factor, addend, &p);
            y[(b * p.y_block) + (i * p.y_step)] = (${y_type})q;
        }
    }
}
