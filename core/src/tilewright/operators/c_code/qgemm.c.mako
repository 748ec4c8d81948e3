<% packed = weight_bits < 8 %>\
#include "qgemm.h"

/* `count` neighbouring columns of one row: 1 or 4. */
TW_KERNEL void ${function}_columns(const tw_qgemm *p, int32_t count, const ${x_type} *a, const ${w_type} *b,
        const ${b_type} *c, const int32_t *r, const int32_t *z, ${y_type} *y)
{
    const ${dot} run = {.count = p->depth, .x_step = p->a_depth, ${"" if packed else ".w_step = p->b_depth, "}.x_apart = 0,
        .w_apart = p->b_column, .x_zero_point = p->a_zero_point, .w_zero_points = z};
    int${bits}_t acc[4];
    for (int32_t j = 0; j < count; ++j) {
        acc[j] = c ? c[j] : 0;
    }
    if (count == 4) {
        ${dot}_4(run, a, b, acc);
    } else {
        ${dot}_1(run, a, b, acc);
    }
    for (int32_t j = 0; j < count; ++j) {
        y[j * p->y_column] = (${y_type})${rounding.of("acc[j]", "r", "j * p->own", "p->requant")};
    }
}

/* y = requant(c + sum of (a - a_zero_point) * (b - b_zero_point)), row by row. */
TW_KERNEL void ${function}(const tw_qgemm p, const ${x_type} *a, const ${w_type} *b, const ${b_type} *c,
        const int32_t *r, const int32_t *z, ${y_type} *y)
{
    for (int32_t m = 0; m < p.rows; ++m) {
        const ${x_type} *const am = a + (m * p.a_row);
        const ${w_type} *const bm = b + (m * p.b_row);
        ${y_type} *const ym = y + (m * p.y_row);
        int32_t n = 0;
        for (; (n + 4) <= p.columns; n += 4) {
            ${function}_columns(&p, 4, am, bm + (n * p.b_column), c ? &c[n] : c, ${rounding.at("r", "(n * p.own)")},
                z ? &z[n * p.own] : z, ym + (n * p.y_column));
        }
        for (; n < p.columns; ++n) {
            ${function}_columns(&p, 1, am, bm + (n * p.b_column), c ? &c[n] : c, ${rounding.at("r", "(n * p.own)")},
                z ? &z[n * p.own] : z, ym + (n * p.y_column));
        }
    }
}
