<%doc> Needs function and weight_bits. </%doc>\
<% weight = f"tw_weight_{weight_bits}" %>\
#include "prelude.h"
#include <stdint.h>

/* y = clip(c + sum over blocks of scale * sum of a * (w - zero point)), row by row, four columns at a time. */
typedef struct {
    int32_t rows;
    int32_t columns;
    int32_t depth;
    /* values with one scale, the last ones may be fewer; scales of a column */
    int32_t block;
    int32_t blocks;
    /* elements between neighbours; of weights and zero points bytes */
    int32_t a_row;
    int32_t a_depth;
    int32_t b_column;
    int32_t s_column;
    int32_t z_column;
    int32_t y_row;
    int32_t y_column;
    float low;
    float high;
} ${function}_shape;

/* `count` neighbouring columns of one row: 1 or 4. */
TW_KERNEL void ${function}_columns(const ${function}_shape *p, int32_t count, const float *a, const uint8_t *b,
        const float *s, const uint8_t *z, const float *c, float *y)
{
    const int32_t more = (count == 4) ? 1 : 0; /* where there is one column, all four are it */
    float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
% for j in range(1, 4):
    const uint8_t *const b${j} = b + (${j} * more * p->b_column);
% endfor
    for (int32_t i = 0; i < p->blocks; ++i) {
        const int32_t first = i * p->block;
        const int32_t end = ((p->depth - first) < p->block) ? p->depth : (first + p->block);
% for j in range(4):
        const int32_t z${j} = z ? ${weight}(z + (${j} * more * p->z_column), i) : 0;
        float sum${j} = 0.0f;
% endfor
        if (more) {
            for (int32_t k = first; k < end; ++k) {
                const float v = a[k * p->a_depth];
                sum0 += v * (float)(${weight}(b, k) - z0);
% for j in range(1, 4):
                sum${j} += v * (float)(${weight}(b${j}, k) - z${j});
% endfor
            }
        } else {
            for (int32_t k = first; k < end; ++k) {
                sum0 += a[k * p->a_depth] * (float)(${weight}(b, k) - z0);
            }
        }
% for j in range(4):
        sum[${j}] += s[(${j} * more * p->s_column) + i] * sum${j};
% endfor
    }
    for (int32_t j = 0; j < count; ++j) {
        const float value = c ? (sum[j] + c[j]) : sum[j];
        y[j * p->y_column] = (value < p->low) ? p->low : ((value > p->high) ? p->high : value);
    }
}

TW_KERNEL void ${function}(const ${function}_shape p, const float *a, const uint8_t *b, const float *s,
        const uint8_t *z, const float *c, float *y)
{
    for (int32_t m = 0; m < p.rows; ++m) {
        int32_t count = 4;
        for (int32_t n = 0; n < p.columns; n += count) {
            count = ((p.columns - n) < 4) ? 1 : 4;
            ${function}_columns(&p, count, a + (m * p.a_row), b + (n * p.b_column), s + (n * p.s_column),
                z ? &z[n * p.z_column] : z, c ? &c[n] : c, y + (m * p.y_row) + (n * p.y_column));
        }
    }
}
