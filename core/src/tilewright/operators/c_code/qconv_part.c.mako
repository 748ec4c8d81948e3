#include "qconv_part.h"

/* The sum of one output goes on over one window; taps outside count for the padding. */
TW_KERNEL void ${function}_window(const tw_qconv_part *p, tw_taps depth, tw_taps row, tw_taps column,
        const ${x_type} *x, const ${w_type} *w, const int32_t *z, int${bits}_t *sum)
{
    const ${dot} run = {.count = p->group_inputs, .x_step = p->x_channel, .w_step = 1, .x_apart = 0, .w_apart = 0,
        .x_zero_point = p->x_zero_point, .w_zero_points = z};
    const int32_t zero = z ? z[0] : 0;
    for (int32_t kd = 0; kd < p->depth.taps; ++kd) {
        for (int32_t kr = 0; kr < p->row.taps; ++kr) {
            const int32_t within = (kd >= depth.first) && (kd < depth.last) && (kr >= row.first) && (kr < row.last);
            for (int32_t kc = 0; kc < p->column.taps; ++kc) {
                const ${w_type} *const wt = w + (kd * p->depth.w_step) + (kr * p->row.w_step) + (kc * p->column.w_step);
                if (within && (kc >= column.first) && (kc < column.last)) {
                    ${dot}_1(run, x + ((depth.start + (kd * p->depth.dilation)) * p->depth.x_step)
                        + ((row.start + (kr * p->row.dilation)) * p->row.x_step)
                        + ((column.start + (kc * p->column.dilation)) * p->column.x_step), wt, sum);
                    continue;
                }
                for (int32_t c = 0; (p->padding != 0) && (c < p->group_inputs); ++c) {
                    *sum += p->padding * (wt[c] - zero);
                }
            }
        }
    }
}

/* One window, every output of the tile. */
TW_KERNEL void ${function}_outputs(const tw_qconv_part *p, tw_taps depth, tw_taps row, tw_taps column,
        const ${x_type} *x, const ${w_type} *w, const ${b_type} *b, const int32_t *r, const int32_t *z,
        int${bits}_t *acc, ${y_type} *y)
{
    const int32_t skipped = p->first_output % p->group_outputs;
    for (int32_t o = 0; o < p->outputs; ++o) {
        const ${x_type} *const xg = x + ((skipped + o) / p->group_outputs * p->group_channels * p->x_channel);
        int${bits}_t *const kept = acc + (o * p->acc_channel);
        int${bits}_t sum = p->first ? (b ? b[o] : 0) : *kept;
        ${function}_window(p, depth, row, column, xg, w + (o * p->w_output), z ? &z[o] : z, &sum);
        if (p->last) {
            y[o * p->y_channel] = (${y_type})${rounding.of("sum", "r", "o", "p->requant")};
        } else {
            *kept = sum;
        }
    }
}

/* The same for a part of the channels: sums are kept in `acc` from part to part, y is written after the last one. */
TW_KERNEL void ${function}(const tw_qconv_part p, const ${x_type} *x, const ${w_type} *w, const ${b_type} *b,
        const int32_t *r, const int32_t *z, int${bits}_t *acc, ${y_type} *y)
{
    for (int32_t n = 0; n < p.batches; ++n) {
        for (int32_t i = 0; i < p.depth.outputs; ++i) {
            const tw_taps depth = tw_taps_inside(&p.depth, i);
            for (int32_t j = 0; j < p.row.outputs; ++j) {
                const tw_taps row = tw_taps_inside(&p.row, j);
                for (int32_t k = 0; k < p.column.outputs; ++k) {
                    const tw_taps column = tw_taps_inside(&p.column, k);
                    ${function}_outputs(&p, depth, row, column, x + (n * p.x_batch), w, b, r, z,
                        acc + (n * p.acc_batch) + (i * p.acc_depth) + (j * p.acc_row) + (k * p.acc_column),
                        y + (n * p.y_batch) + (i * p.depth.y_step) + (j * p.row.y_step) + (k * p.column.y_step));
                }
            }
        }
    }
}
