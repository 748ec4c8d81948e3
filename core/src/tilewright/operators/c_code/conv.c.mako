<%doc>
Needs what `element_names` has, and record (the struct's name).
</%doc>\
#include "window.h"
#include "prelude.h"
#include <stdint.h>

/* y = clip(sum of x * w over group channels and taps, + b), one output at a time, padding skipped; NaN kept. */
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
    tw_axis depth;
    tw_axis row;
    tw_axis column;
    float low;
    float high;
} ${record};

TW_KERNEL float ${record}_clip(float value, float low, float high)
{
    return (value < low) ? low : ((value > high) ? high : value);
}

/* One window, `count` outputs of one group: blocks of four share the reads of x. */
TW_KERNEL void tw_conv_window_${kind}(const ${record} *p, int32_t count, tw_taps depth, tw_taps row, tw_taps column,
                                  const ${stored} *x, const ${stored} *w, const ${stored} *b, ${stored} *y)
{
    int32_t o = 0;
    for (; (o + 4) <= count; o += 4) {
        float s0 = b ? ${load("b[o]")} : 0.0f;
        float s1 = b ? ${load("b[o + 1]")} : 0.0f;
        float s2 = b ? ${load("b[o + 2]")} : 0.0f;
        float s3 = b ? ${load("b[o + 3]")} : 0.0f;
        const ${stored} *const wo = w + (o * p->w_output);
        for (int32_t kd = depth.first; kd < depth.last; ++kd) {
            for (int32_t kr = row.first; kr < row.last; ++kr) {
                for (int32_t kc = column.first; kc < column.last; ++kc) {
                    const ${stored} *const xt = x + ((depth.start + (kd * p->depth.dilation)) * p->depth.x_step)
                        + ((row.start + (kr * p->row.dilation)) * p->row.x_step)
                        + ((column.start + (kc * p->column.dilation)) * p->column.x_step);
                    const ${stored} *const w0 = wo + (kd * p->depth.w_step) + (kr * p->row.w_step) + (kc * p->column.w_step);
                    const ${stored} *const w1 = w0 + p->w_output;
                    const ${stored} *const w2 = w1 + p->w_output;
                    const ${stored} *const w3 = w2 + p->w_output;
                    for (int32_t c = 0; c < p->group_inputs; ++c) {
                        const float v = ${load("xt[c * p->x_channel]")};
                        s0 += v * ${load("w0[c * p->w_channel]")};
                        s1 += v * ${load("w1[c * p->w_channel]")};
                        s2 += v * ${load("w2[c * p->w_channel]")};
                        s3 += v * ${load("w3[c * p->w_channel]")};
                    }
                }
            }
        }
        y[o * p->y_channel] = ${rounded(record + "_clip(s0, p->low, p->high)")};
        y[(o + 1) * p->y_channel] = ${rounded(record + "_clip(s1, p->low, p->high)")};
        y[(o + 2) * p->y_channel] = ${rounded(record + "_clip(s2, p->low, p->high)")};
        y[(o + 3) * p->y_channel] = ${rounded(record + "_clip(s3, p->low, p->high)")};
    }
    for (; o < count; ++o) {
        float sum = b ? ${load("b[o]")} : 0.0f;
        const ${stored} *const wo = w + (o * p->w_output);
        for (int32_t kd = depth.first; kd < depth.last; ++kd) {
            for (int32_t kr = row.first; kr < row.last; ++kr) {
                for (int32_t kc = column.first; kc < column.last; ++kc) {
                    const ${stored} *const xt = x + ((depth.start + (kd * p->depth.dilation)) * p->depth.x_step)
                        + ((row.start + (kr * p->row.dilation)) * p->row.x_step)
                        + ((column.start + (kc * p->column.dilation)) * p->column.x_step);
                    const ${stored} *const wt = wo + (kd * p->depth.w_step) + (kr * p->row.w_step) + (kc * p->column.w_step);
                    for (int32_t c = 0; c < p->group_inputs; ++c) {
                        sum += ${load("xt[c * p->x_channel]")} * ${load("wt[c * p->w_channel]")};
                    }
                }
            }
        }
        y[o * p->y_channel] = ${rounded(record + "_clip(sum, p->low, p->high)")};
    }
}

/* One window, every output of the tile: group by group, because a group has its own inputs. */
TW_KERNEL void tw_conv_groups_${kind}(const ${record} *p, tw_taps depth, tw_taps row, tw_taps column, int32_t skipped,
                                  const ${stored} *x, const ${stored} *w, const ${stored} *b, ${stored} *y)
{
    int32_t left = p->group_outputs - skipped; /* outputs of the first group that the tile has */
    for (int32_t o = 0; o < p->outputs;) {
        const int32_t count = (left < (p->outputs - o)) ? left : (p->outputs - o);
        tw_conv_window_${kind}(p, count, depth, row, column, x, w + (o * p->w_output), b ? &b[o] : b, y + (o * p->y_channel));
        o += count;
        x += (o < p->outputs) ? (p->group_inputs * p->x_channel) : 0;
        left = p->group_outputs;
    }
}

TW_KERNEL void tw_conv_${kind}(const ${record} p, const ${stored} *x, const ${stored} *w, const ${stored} *b, ${stored} *y)
{
    const int32_t skipped = p.first_output % p.group_outputs;
    for (int32_t n = 0; n < p.batches; ++n) {
        for (int32_t i = 0; i < p.depth.outputs; ++i) {
            const tw_taps depth = tw_taps_inside(&p.depth, i);
            for (int32_t j = 0; j < p.row.outputs; ++j) {
                const tw_taps row = tw_taps_inside(&p.row, j);
                for (int32_t k = 0; k < p.column.outputs; ++k) {
                    const tw_taps column = tw_taps_inside(&p.column, k);
                    tw_conv_groups_${kind}(&p, depth, row, column, skipped, x + (n * p.x_batch), w, b,
                                       y + (n * p.y_batch) + (i * p.depth.y_step) + (j * p.row.y_step)
                                           + (k * p.column.y_step));
                }
            }
        }
    }
}
