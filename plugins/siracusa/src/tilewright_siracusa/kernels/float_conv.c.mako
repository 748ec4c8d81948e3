<%doc>
Needs function, clip (see float_finish.c), edges (taps may lie outside), part (of the products: sums are kept in `acc`).
</%doc>\
#include "windows.h"

<% pixel, floats = ("tw_xp_part_float_pixel", "tw_xp_part_floats") if part else ("tw_xp_float_pixel", "tw_xp_floats") %>\
% for pixels in (4, 1):
/* Every output of ${pixels} ${"pixels" if pixels > 1 else "pixel"}. */
TW_KERNEL void ${function}_${pixels}(const tw_xp_windows *p, const ${floats} *f, const ${pixel} *at, const float *x,
        const float *w, const float *b, const float *pad)
{
    const int32_t row = p->row_dilation * p->x_row;
    const int32_t column = p->column_dilation * p->x_column;
% if edges:
    const uint32_t all = (UINT32_C(2) << (p->column_taps - 1)) - 1;
% else:
    const int32_t taps = p->joined ? 1 : p->column_taps;
    const int32_t run = p->joined ? (p->column_taps * p->channels) : p->channels;
    (void)pad;
% endif
    int32_t o = 0;
% for outputs in (4, 1):
    for (; ${"(o + 4) <= p->outputs; o += 4" if outputs == 4 else "o < p->outputs; ++o"}) {
% for j in range(outputs):
        float b${j} = b ? b[o + ${j}] : 0.0f;
% endfor
        float acc[${pixels * outputs}] = {${", ".join(f"b{j}" for i in range(pixels) for j in range(outputs))}};
        const float *const wo = w + (o * f->w_output);
% if part:
        if (!f->first) {
% for i in range(pixels):
% for j in range(outputs):
            acc[${i * outputs + j}] = at[${i}].acc[${f"o + {j}" if j else "o"}];
% endfor
% endfor
        }
% endif
        for (int32_t kr = 0; kr < p->row_taps; ++kr) {
            const int32_t first[${pixels}] = {${", ".join(f"at[{i}].x + (kr * row)" for i in range(pixels))}};
            const float *const wr = wo + (kr * p->column_taps * f->w_tap);
% if edges:
            const uint32_t inside[${pixels}] = {${", ".join(f"((at[{i}].rows >> kr) & 1) ? at[{i}].columns : 0" for i in range(pixels))}};
            const uint32_t some = ${" | ".join(f"inside[{i}]" for i in range(pixels))};
            const uint32_t every = ${" & ".join(f"inside[{i}]" for i in range(pixels))};
            const int32_t whole = p->joined && (every == all);
            const int32_t taps = whole ? 1 : p->column_taps;
            const int32_t run = whole ? (p->column_taps * p->channels) : p->channels;
% endif
            for (int32_t kc = 0; kc < taps; ++kc) {
% if edges:
                if (!((some >> kc) & 1)) {
                    continue;
                }
                const float *const from[${pixels}] = {
% for i in range(pixels):
                    ((inside[${i}] >> kc) & 1) ? (x + (first[${i}] + (kc * column))) : pad,
% endfor
                };
% else:
                const float *const from[${pixels}] = {${", ".join(f"x + (first[{i}] + (kc * column))" for i in range(pixels))}};
% endif
                tw_xp_f32_dot${pixels}x${outputs}_rows(run, from, 1, wr + (kc * f->w_tap), 1, f->w_output, acc);
            }
        }
% if part:
        if (!f->last) {
% for i in range(pixels):
% for j in range(outputs):
            at[${i}].acc[${f"o + {j}" if j else "o"}] = acc[${i * outputs + j}];
% endfor
% endfor
            continue;
        }
% endif
% for i in range(pixels):
% for j in range(outputs):
        at[${i}].y[${f"(o + {j})" if j else "o"} * f->y_output] = tw_xp_f32_finish_${clip}(acc[${i * outputs + j}], f->low, f->high);
% endfor
% endfor
    }
% endfor
}

% endfor
/* A convolution over channels that are neighbours: blocks of four pixels and four outputs share what they read. */
TW_KERNEL void ${function}(const tw_xp_windows p, const ${floats} f, ${"float *acc, " if part else ""}const float *x, const float *w, const float *b,
        float *y, const float *pad)
{
    ${pixel} at[4];
    int32_t held = 0;
    for (int32_t n = 0; n < p.batches; ++n) {
        for (int32_t i = 0; i < p.rows; ++i) {
            const int32_t top = (i * p.row_stride) - p.top;
% if edges:
            const uint32_t rows = tw_xp_inside(top, p.row_taps, p.row_dilation, p.in_rows);
% endif
            for (int32_t j = 0; j < p.columns; ++j) {
                const int32_t left = (j * p.column_stride) - p.left;
                at[held].x = (n * p.x_batch) + (top * p.x_row) + (left * p.x_column);
                at[held].y = y + ((n * p.y_batch) + (i * p.y_row) + (j * p.y_column));
% if part:
                at[held].acc = acc + ((n * f.acc_batch) + (i * f.acc_row) + (j * f.acc_column));
% endif
% if edges:
                at[held].rows = rows;
                at[held].columns = tw_xp_inside(left, p.column_taps, p.column_dilation, p.in_columns);
% endif
                held += 1;
                if (held == 4) {
                    ${function}_4(&p, &f, at, x, w, b, pad);
                    held = 0;
                }
            }
        }
    }
    for (int32_t i = 0; i < held; ++i) {
        ${function}_1(&p, &f, at + i, x, w, b, pad);
    }
}
