#include "window.h"
#include "prelude.h"
#include <stdint.h>

/* y = sum of (x - zero of x) * (w - zero of w) over group channels and taps, modulo 2^32; padding adds nothing.${"\n   Times both scales, plus the addend." if is_float else ""} */
typedef struct {
    /* extents of the output tile */
    int32_t batches;
    int32_t outputs;
    /* channels of one group */
    int32_t group_inputs;
    int32_t group_outputs;
    int32_t first_output; /* channel of the tile's first output in the whole tensor */
    /* elements between neighbours */
    int32_t x_batch;
    int32_t x_channel;
    int32_t y_batch;
    int32_t y_channel;
    int32_t w_output;
    int32_t w_channel;
    int32_t q_output;
    tw_axis depth;
    tw_axis row;
    tw_axis column;
% if is_float:
    int32_t f_step;
    int32_t c_step;
% endif
} ${function}_shape;

/* One window of one output; x and w are of its group and channel. */
TW_KERNEL uint32_t ${function}_window(const ${function}_shape *s, tw_taps depth, tw_taps row, tw_taps column,
                                      const ${x_type} *x, const ${w_type} *w, int32_t x_zero, int32_t w_zero)
{
    uint32_t sum = 0;
    for (int32_t kd = depth.first; kd < depth.last; ++kd) {
        for (int32_t kr = row.first; kr < row.last; ++kr) {
            for (int32_t kc = column.first; kc < column.last; ++kc) {
                const ${x_type} *const xt = x + ((depth.start + (kd * s->depth.dilation)) * s->depth.x_step)
                    + ((row.start + (kr * s->row.dilation)) * s->row.x_step)
                    + ((column.start + (kc * s->column.dilation)) * s->column.x_step);
                const ${w_type} *const wt = w + (kd * s->depth.w_step) + (kr * s->row.w_step) + (kc * s->column.w_step);
                for (int32_t c = 0; c < s->group_inputs; ++c) {
                    sum += (uint32_t)((xt[c * s->x_channel] - x_zero) * (wt[c * s->w_channel] - w_zero));
                }
            }
        }
    }
    return sum;
}

/* One window, every output of the tile: a group has its own inputs. */
TW_KERNEL void ${function}_outputs(const ${function}_shape *s, tw_taps depth, tw_taps row, tw_taps column,
                                   const ${x_type} *x, const ${w_type} *w, int32_t x_zero, const ${w_type} *w_zeros,
% if is_float:
                                   const float *scale, const float *factors, const float *addends, float *y)
{
    const float shared = scale ? *scale : 1.0f;
% else:
                                   int32_t *y)
{
% endif
    for (int32_t o = 0; o < s->outputs; ++o) {
        const int32_t group = ((s->first_output + o) / s->group_outputs) - (s->first_output / s->group_outputs);
        const int32_t w_zero = w_zeros ? w_zeros[o * s->q_output] : 0;
        const ${x_type} *const xg = x + (group * s->group_inputs * s->x_channel);
        const int32_t sum
            = (int32_t)${function}_window(s, depth, row, column, xg, w + (o * s->w_output), x_zero, w_zero);
% if is_float:
        const float scaled = (float)sum * (factors ? (shared * factors[o * s->f_step]) : shared);
        y[o * s->y_channel] = addends ? (scaled + addends[o * s->c_step]) : scaled;
% else:
        y[o * s->y_channel] = sum;
% endif
    }
}

TW_KERNEL void ${function}(const ${function}_shape s, const ${x_type} *x, const ${w_type} *w, const ${x_type} *x_zero,
                           const ${w_type} *w_zeros, \
% if is_float:
const float *scale, const float *factors, const float *addends,
                           float *y)
% else:
int32_t *y)
% endif
{
    for (int32_t n = 0; n < s.batches; ++n) {
        for (int32_t i = 0; i < s.depth.outputs; ++i) {
            const tw_taps depth = tw_taps_inside(&s.depth, i);
            for (int32_t j = 0; j < s.row.outputs; ++j) {
                const tw_taps row = tw_taps_inside(&s.row, j);
                for (int32_t k = 0; k < s.column.outputs; ++k) {
                    const tw_taps column = tw_taps_inside(&s.column, k);
                    ${function}_outputs(&s, depth, row, column, x + (n * s.x_batch), w, x_zero ? *x_zero : 0, w_zeros,
% if is_float:
                                        scale, factors, addends,
% endif
                                        y + (n * s.y_batch) + (i * s.depth.y_step) + (j * s.row.y_step)
                                            + (k * s.column.y_step));
                }
            }
        }
    }
}
