#include "pool.h"
#include "requant.h"

/* Sums of one window over `count` neighbouring channels, 1 or 4; tiles of x only, padding counts for nothing. */
TW_KERNEL void ${function}_sums(const tw_pool *p, int32_t count, tw_taps depth, tw_taps row, tw_taps column,
        const ${x_type} *x, int32_t *sums)
{
    int32_t sum0 = 0;
    int32_t sum1 = 0;
    int32_t sum2 = 0;
    int32_t sum3 = 0;
    for (int32_t kd = depth.first; kd < depth.last; ++kd) {
        for (int32_t kr = row.first; kr < row.last; ++kr) {
            const ${x_type} *const line = x + ((depth.start + (kd * p->depth.dilation)) * p->depth.x_step)
                + ((row.start + (kr * p->row.dilation)) * p->row.x_step);
            for (int32_t kc = column.first; kc < column.last; ++kc) {
                const ${x_type} *const xt = line + ((column.start + (kc * p->column.dilation)) * p->column.x_step);
                sum0 += xt[0];
                if (count == 4) {
                    sum1 += xt[p->x_channel];
                    sum2 += xt[2 * p->x_channel];
                    sum3 += xt[3 * p->x_channel];
                }
            }
        }
    }
    sums[0] = sum0;
    if (count == 4) {
        sums[1] = sum1;
        sums[2] = sum2;
        sums[3] = sum3;
    }
}

/* One window, every channel. `zeros`: what the elements inside have too much; `word` belongs to the window's count. */
TW_KERNEL void ${function}_window(const tw_pool *p, tw_requant requant, tw_taps depth, tw_taps row, tw_taps column,
        int32_t zeros, ${rounding.word_type}word, const ${x_type} *x, ${y_type} *y)
{
    int32_t sums[4];
    int32_t c = 0;
    for (; (c + 4) <= p->channels; c += 4) {
        ${function}_sums(p, 4, depth, row, column, x + (c * p->x_channel), sums);
        for (int32_t j = 0; j < 4; ++j) {
            y[(c + j) * p->y_channel] = (${y_type})${rounding.handed("sums[j] - zeros", "word", "requant")};
        }
    }
    for (; c < p->channels; ++c) {
        ${function}_sums(p, 1, depth, row, column, x + (c * p->x_channel), sums);
        y[c * p->y_channel] = (${y_type})${rounding.handed("sums[0] - zeros", "word", "requant")};
    }
}

/* y = requant(sum of x - x_zero_point over each window), with the scale that belongs to how many positions count. */
TW_KERNEL void ${function}(const tw_pool p, const tw_requant requant, int32_t x_zero_point, int32_t words,
        int32_t padding, const ${x_type} *x, const int32_t *r, ${y_type} *y)
{
    for (int32_t n = 0; n < p.batches; ++n) {
        for (int32_t i = 0; i < p.depth.outputs; ++i) {
            const tw_taps depth = tw_taps_inside(&p.depth, i);
            for (int32_t j = 0; j < p.row.outputs; ++j) {
                const tw_taps row = tw_taps_inside(&p.row, j);
                for (int32_t k = 0; k < p.column.outputs; ++k) {
                    const tw_taps column = tw_taps_inside(&p.column, k);
                    const int32_t inside = (depth.last - depth.first) * (row.last - row.first)
                        * (column.last - column.first);
                    const int32_t counted = padding ? (tw_taps_below(&p.depth, depth.start, p.depth.counted)
                            * tw_taps_below(&p.row, row.start, p.row.counted)
                            * tw_taps_below(&p.column, column.start, p.column.counted))
                        : inside;
                    ${"const int32_t " if rounding.words == 1 else "const int32_t *const "}word = ${rounding.picked("r", "((words == 1) || (counted < 1)) ? 0 : (counted - 1)")};
                    ${function}_window(&p, requant, depth, row, column, inside * x_zero_point, word,
                        x + (n * p.x_batch),
                        y + (n * p.y_batch) + (i * p.depth.y_step) + (j * p.row.y_step) + (k * p.column.y_step));
                }
            }
        }
    }
}
