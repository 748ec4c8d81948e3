#include "prelude.h"
#include <stdint.h>

/* y = (a - zero of its row) . (b - zero of its column), summed modulo 2^32${", then times both scales, plus c" if is_float else ""}. */
typedef struct {
    int32_t rows;
    int32_t columns;
    int32_t depth;
    /* elements between neighbours */
    int32_t a_row;
    int32_t b_row;
    int32_t p_row;
    int32_t y_row;
    int32_t a_depth;
    int32_t b_depth;
    int32_t b_column;
    int32_t q_column;
    int32_t y_column;
% if is_float:
    int32_t f_step;
    int32_t c_step;
% endif
} ${function}_shape;

TW_KERNEL void ${function}(const ${function}_shape s, const ${a_type} *a, const ${b_type} *b,
                           const ${a_type} *row_zeros, const ${b_type} *column_zeros, \
% if is_float:
const float *scale,
                           const float *factors, const float *addends, float *y)
{
    const float shared = scale ? *scale : 1.0f;
% else:
int32_t *y)
{
% endif
    for (int32_t m = 0; m < s.rows; ++m) {
        const int32_t a_zero = row_zeros ? row_zeros[m * s.p_row] : 0;
        for (int32_t n = 0; n < s.columns; ++n) {
            const int32_t b_zero = column_zeros ? column_zeros[n * s.q_column] : 0;
            const ${a_type} *const am = a + (m * s.a_row);
            const ${b_type} *const bn = b + (m * s.b_row) + (n * s.b_column);
            uint32_t sum = 0;
            for (int32_t k = 0; k < s.depth; ++k) {
                sum += (uint32_t)((am[k * s.a_depth] - a_zero) * (bn[k * s.b_depth] - b_zero));
            }
% if is_float:
            const float scaled = (float)(int32_t)sum * (factors ? (shared * factors[n * s.f_step]) : shared);
            y[(m * s.y_row) + (n * s.y_column)] = addends ? (scaled + addends[n * s.c_step]) : scaled;
% else:
            y[(m * s.y_row) + (n * s.y_column)] = (int32_t)sum;
% endif
        }
    }
}
