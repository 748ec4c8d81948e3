<% packed = weight_bits < 8 %>\
#include "qconv.h"

/* The taps inside the tile, for `count` outputs: 1 or 4. */
TW_KERNEL void ${function}_inside(const tw_qconv *p, int32_t count, int32_t x_apart, tw_taps depth, tw_taps row,
        tw_taps column, const ${x_type} *x, const ${w_type} *w, const int32_t *z, int${bits}_t *acc)
{
    const int32_t taps = p->joined ? (column.last - column.first) : 1; /* in one run */
    ${"" if packed else "const "}${dot} run = {.count = taps * p->group_inputs, .x_step = p->step, ${"" if packed else ".w_step = 1, "}.x_apart = x_apart,
        .w_apart = p->w_output, .x_zero_point = p->x_zero_point, .w_zero_points = z};
    for (int32_t kd = depth.first; kd < depth.last; ++kd) {
        for (int32_t kr = row.first; kr < row.last; ++kr) {
            for (int32_t kc = column.first; kc < column.last; kc += taps) {
                const ${x_type} *const xt = x + ((depth.start + (kd * p->depth.dilation)) * p->depth.x_step)
                    + ((row.start + (kr * p->row.dilation)) * p->row.x_step)
                    + ((column.start + (kc * p->column.dilation)) * p->column.x_step);
% if packed:
                const ${w_type} *const wt = w;
                run.w_at = (kd * p->depth.w_step) + (kr * p->row.w_step) + (kc * p->column.w_step);
% else:
                const ${w_type} *const wt = w + (kd * p->depth.w_step) + (kr * p->row.w_step) + (kc * p->column.w_step);
% endif
                if (count == 4) {
                    ${dot}_4(run, xt, wt, acc);
                } else {
                    ${dot}_1(run, xt, wt, acc);
                }
            }
        }
    }
}

/* Sum of one output's weights over some taps of a row. */
TW_KERNEL int${bits}_t ${function}_weights(const tw_qconv *p, int32_t first, int32_t last, const ${w_type} *w,
        ${"int32_t at, " if packed else ""}int32_t zero_point)
{
    int${bits}_t sum = 0;
    for (int32_t kc = first; kc < last; ++kc) {
% if packed:
        for (int32_t c = 0; c < p->group_inputs; ++c) {
            sum += tw_weight_${weight_bits}(w, at + (kc * p->column.w_step) + c) - zero_point;
        }
% else:
        const ${w_type} *const wt = w + (kc * p->column.w_step);
        for (int32_t c = 0; c < p->group_inputs; ++c) {
            sum += wt[c] - zero_point;
        }
% endif
    }
    return sum;
}

/* Sum of one output's weights over the taps that read padding: all of a row outside, or those before and after. */
TW_KERNEL int${bits}_t ${function}_outside(const tw_qconv *p, tw_taps depth, tw_taps row, tw_taps column,
        const ${w_type} *w, int32_t zero_point)
{
    int${bits}_t sum = 0;
    for (int32_t kd = 0; kd < p->depth.taps; ++kd) {
        for (int32_t kr = 0; kr < p->row.taps; ++kr) {
            const int32_t within = (kd >= depth.first) && (kd < depth.last) && (kr >= row.first) && (kr < row.last);
% if packed:
            const int32_t at = (kd * p->depth.w_step) + (kr * p->row.w_step);
% else:
            const ${w_type} *const wt = w + (kd * p->depth.w_step) + (kr * p->row.w_step);
% endif
<% row = "w, at" if packed else "wt" %>\
            if (!within) {
                sum += ${function}_weights(p, 0, p->column.taps, ${row}, zero_point);
                continue;
            }
            sum += ${function}_weights(p, 0, column.first, ${row}, zero_point);
            sum += ${function}_weights(p, column.last, p->column.taps, ${row}, zero_point);
        }
    }
    return sum;
}

/* One window, `count` outputs (1 or 4), from accumulators to stored bytes. */
TW_KERNEL void ${function}_outputs(const tw_qconv *p, int32_t count, int32_t x_apart, tw_taps depth, tw_taps row,
        tw_taps column, const ${x_type} *x, const ${w_type} *w, const ${b_type} *b, const int32_t *r,
        const int32_t *z, ${y_type} *y)
{
    int${bits}_t acc[4];
    for (int32_t j = 0; j < count; ++j) {
        acc[j] = b ? b[j] : 0;
    }
    ${function}_inside(p, count, x_apart, depth, row, column, x, w, z, acc);
    const int32_t clipped = ((depth.last - depth.first) < p->depth.taps) || ((row.last - row.first) < p->row.taps)
        || ((column.last - column.first) < p->column.taps);
    for (int32_t j = 0; j < count; ++j) {
        if ((p->padding != 0) && clipped) {
            acc[j] += p->padding
                * ${function}_outside(p, depth, row, column, w + (j * p->w_output), z ? z[j] : 0);
        }
        y[j * p->y_channel] = (${y_type})${rounding.of("acc[j]", "r", "j", "p->requant")};
    }
}

/* One window, every output of the tile: four at a time where they read the same group, or each its own channels. */
TW_KERNEL void ${function}_window(const tw_qconv *p, tw_taps depth, tw_taps row, tw_taps column,
        const ${x_type} *x, const ${w_type} *w, const ${b_type} *b, const int32_t *r, const int32_t *z, ${y_type} *y)
{
    const int32_t group = p->group_inputs * p->x_channel; /* elements of x to the next group */
    int32_t left = p->group_outputs - (p->first_output % p->group_outputs); /* outputs of the current group */
    int32_t at = 0;
    for (int32_t o = 0; o < p->outputs;) {
        const int32_t room = p->outputs - o;
        const int32_t count = ((room >= 4) && ((p->group_outputs == 1) || (left >= 4))) ? 4 : 1;
        const ${b_type} *const bo = b ? &b[o] : b;
        const int32_t *const zo = z ? &z[o] : z;
        if (count == 4) {
            ${function}_outputs(p, 4, (p->group_outputs == 1) ? group : 0, depth, row, column, x + at,
                w + (o * p->w_output), bo, ${rounding.at("r", "o")}, zo, y + (o * p->y_channel));
        } else {
            ${function}_outputs(p, 1, 0, depth, row, column, x + at,
                w + (o * p->w_output), bo, ${rounding.at("r", "o")}, zo, y + (o * p->y_channel));
        }
        o += count;
        if (p->group_outputs == 1) {
            at += count * group;
        } else if ((left -= count) == 0) {
            at += group;
            left = p->group_outputs;
        }
    }
}

/* y = requant(b + sum of (x - x_zero_point) * (w - w_zero_point)); positions outside read pad_value. */
TW_KERNEL void ${function}(const tw_qconv p, const ${x_type} *x, const ${w_type} *w, const ${b_type} *b,
        const int32_t *r, const int32_t *z, ${y_type} *y)
{
    for (int32_t n = 0; n < p.batches; ++n) {
        for (int32_t i = 0; i < p.depth.outputs; ++i) {
            const tw_taps depth = tw_taps_inside(&p.depth, i);
            for (int32_t j = 0; j < p.row.outputs; ++j) {
                const tw_taps row = tw_taps_inside(&p.row, j);
                for (int32_t k = 0; k < p.column.outputs; ++k) {
                    const tw_taps column = tw_taps_inside(&p.column, k);
                    ${function}_window(&p, depth, row, column, x + (n * p.x_batch), w, b, r, z,
                        y + (n * p.y_batch) + (i * p.depth.y_step) + (j * p.row.y_step) + (k * p.column.y_step));
                }
            }
        }
    }
}
