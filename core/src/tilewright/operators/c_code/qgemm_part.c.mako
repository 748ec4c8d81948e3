#include "qgemm_part.h"

/* The same for a part of the depth: sums are kept in `acc` from part to part, y is written after the last one. */
TW_KERNEL void ${function}(const tw_qgemm_part p, const ${x_type} *a, const ${w_type} *b, const ${b_type} *c,
        const int32_t *r, const int32_t *z, int${bits}_t *acc, ${y_type} *y)
{
    for (int32_t m = 0; m < p.rows; ++m) {
        const ${x_type} *const am = a + (m * p.a_row);
        for (int32_t n = 0; n < p.columns; ++n) {
            const ${dot} run = {.count = p.depth, .x_step = p.a_depth, .w_step = p.b_depth, .x_apart = 0, .w_apart = 0,
                .x_zero_point = p.a_zero_point, .w_zero_points = z ? &z[n * p.own] : z};
            int${bits}_t *const kept = acc + (m * p.acc_row) + (n * p.acc_column);
            int${bits}_t sum = p.first ? (c ? c[n] : 0) : *kept;
            ${dot}_1(run, am, b + (m * p.b_row) + (n * p.b_column), &sum);
            if (p.last) {
                y[(m * p.y_row) + (n * p.y_column)] = (${y_type})${rounding.of("sum", "r", "n * p.own", "p.requant")};
            } else {
                *kept = sum;
            }
        }
    }
}
