<%doc>
Needs what `element_names` has, record (the struct's name) and zero (a constant of the type in which sums are).
</%doc>\
#include "prelude.h"
#include <stdint.h>

/* The same for a part of the depth: sums are kept in `acc` from part to part, y is written after the last one. */
typedef struct {
    int32_t rows;
    int32_t columns;
    int32_t depth;
    /* elements between neighbours; b_row as in tw_matmul */
    int32_t a_row;
    int32_t b_row;
    int32_t c_row;
    int32_t y_row;
    int32_t acc_row;
    int32_t a_depth;
    int32_t b_depth;
    int32_t b_column;
    int32_t c_column;
    int32_t y_column;
    int32_t acc_column;
    ${real} alpha;
    ${real} beta;
    ${real} low;
    ${real} high;
    /* whether this is the first part, the last part */
    int32_t first;
    int32_t last;
} ${record};

TW_KERNEL void tw_matmul_part_${kind}(const ${record} p, const ${stored} *a, const ${stored} *b, const ${stored} *c, ${real} *acc,
                                  ${stored} *y)
{
    for (int32_t m = 0; m < p.rows; ++m) {
        const ${stored} *const am = a + (m * p.a_row);
        for (int32_t n = 0; n < p.columns; ++n) {
            const ${stored} *const bn = b + (m * p.b_row) + (n * p.b_column);
            ${real} *const kept = acc + (m * p.acc_row) + (n * p.acc_column);
            ${real} sum = p.first ? ${zero} : *kept;
            for (int32_t k = 0; k < p.depth; ++k) {
                sum += ${load("am[k * p.a_depth]")} * ${load("bn[k * p.b_depth]")};
            }
            if (p.last) {
                const ${real} bias = c ? (p.beta * ${load("c[m * p.c_row + n * p.c_column]")}) : ${zero};
                const ${real} value = (p.alpha * sum) + bias;
                y[(m * p.y_row) + (n * p.y_column)] = ${rounded("value < p.low ? p.low : (value > p.high ? p.high : value)")};
            } else {
                *kept = sum;
            }
        }
    }
}
