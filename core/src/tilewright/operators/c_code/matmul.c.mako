<%doc>
Needs what `element_names` has, record (the struct's name) and zero (a constant of the type in which sums are).
</%doc>\
#include "prelude.h"
#include <stdint.h>

/* y = clip(alpha * (a . b) + beta * c): one matrix product, four columns at a time share the reads of a; NaN kept. */
typedef struct {
    int32_t rows;
    int32_t columns;
    int32_t depth;
    /* elements between neighbours; b_row where every row has its own matrix */
    int32_t a_row;
    int32_t b_row;
    int32_t c_row;
    int32_t y_row;
    int32_t a_depth;
    int32_t b_depth;
    int32_t b_column;
    int32_t c_column;
    int32_t y_column;
    ${real} alpha;
    ${real} beta;
    ${real} low;
    ${real} high;
} ${record};

TW_KERNEL ${real} ${record}_finish(const ${record} *p, ${real} sum, const ${stored} *c, int32_t at)
{
    const ${real} value = c ? ((p->alpha * sum) + (p->beta * ${load("c[at]")})) : (p->alpha * sum);
    return (value < p->low) ? p->low : ((value > p->high) ? p->high : value);
}

TW_KERNEL void tw_matmul_${kind}(const ${record} p, const ${stored} *a, const ${stored} *b, const ${stored} *c, ${stored} *y)
{
    for (int32_t m = 0; m < p.rows; ++m) {
        const ${stored} *const am = a + (m * p.a_row);
        ${stored} *const ym = y + (m * p.y_row);
        const ${stored} *const bm = b + (m * p.b_row);
        const int32_t cm = m * p.c_row;
        int32_t n = 0;
        for (; (n + 4) <= p.columns; n += 4) {
            const ${stored} *const b0 = bm + (n * p.b_column);
            const ${stored} *const b1 = b0 + p.b_column;
            const ${stored} *const b2 = b1 + p.b_column;
            const ${stored} *const b3 = b2 + p.b_column;
            ${real} s0 = ${zero};
            ${real} s1 = ${zero};
            ${real} s2 = ${zero};
            ${real} s3 = ${zero};
            for (int32_t k = 0; k < p.depth; ++k) {
                const ${real} v = ${load("am[k * p.a_depth]")};
                s0 += v * ${load("b0[k * p.b_depth]")};
                s1 += v * ${load("b1[k * p.b_depth]")};
                s2 += v * ${load("b2[k * p.b_depth]")};
                s3 += v * ${load("b3[k * p.b_depth]")};
            }
            ym[n * p.y_column] = ${rounded(record + "_finish(&p, s0, c, cm + (n * p.c_column))")};
            ym[(n + 1) * p.y_column] = ${rounded(record + "_finish(&p, s1, c, cm + (n + 1) * p.c_column)")};
            ym[(n + 2) * p.y_column] = ${rounded(record + "_finish(&p, s2, c, cm + (n + 2) * p.c_column)")};
            ym[(n + 3) * p.y_column] = ${rounded(record + "_finish(&p, s3, c, cm + (n + 3) * p.c_column)")};
        }
        for (; n < p.columns; ++n) {
            const ${stored} *const bn = bm + (n * p.b_column);
            ${real} sum = ${zero};
            for (int32_t k = 0; k < p.depth; ++k) {
                sum += ${load("am[k * p.a_depth]")} * ${load("bn[k * p.b_depth]")};
            }
            ym[n * p.y_column] = ${rounded(record + "_finish(&p, sum, c, cm + (n * p.c_column))")};
        }
    }
}
