<%doc>
Needs bytes (what this defines), function (which computes a row of windows of float32), results (which requantises), element and
stored (of x), form ("whole", "part" or "depthwise").
</%doc>\
<%
    part, depthwise = form == "part", form == "depthwise"
    told = {"whole": "tw_sn_products *q, ", "part": "tw_sn_products *q, tw_sn_sums *s, ", "depthwise": ""}[form]
%>\
/* Convolution of bytes by float32: what a row of the output reaches is widened, and multiplied by streams; sums are
 * exact, and requantised.${" Sums of a part of the channels are kept in `acc`." if part else ""} `scratch`: 64 bytes, ${"zeros for all channels, " if depthwise else ""}${"" if part else "sums, "}
 * and what is widened.
 * What this is told of the layer it changes: stacks are small. */
TW_SN_APART void ${bytes}(tw_sn_windows *all, const tw_sn_bytes *k, ${told}const ${stored} *x, const float *w,
        const float *biases, ${"float *acc, " if part else ""}uint8_t *y, float *scratch)
{
    if ((all->row_taps == 1) && (all->column_taps == 1) && (all->row_stride == 1) && (all->column_stride == 1) && (all->top == 0)
        && (all->left == 0) && (all->in_rows == all->rows) && (all->in_columns == all->columns)
        && (all->x_row == (all->columns * all->x_column)) && (all->y_row == (all->columns * all->y_column))${" && (s->row == (all->columns * s->column))" if part else ""}) {
        all->columns *= all->rows; /* all of it is one row */
        all->in_columns = all->columns;
        all->rows = all->in_rows = 1;
    }
% if part:
    const int32_t last = s->last;
    s->last = 0; /* results are not those that the function below would write */
% endif
% if not depthwise:
    q->outputs = k->outputs;
% endif
    tw_sn_windows one = *all;
    const int32_t at_once = (all->columns < k->at_once) ? all->columns : k->at_once;
    const int32_t reach = ((all->column_taps - 1) * all->column_dilation) + 1;
    one.batches = one.rows = one.row_stride = one.row_dilation = 1;
    one.in_rows = one.row_taps;
    one.top = one.left = one.x_batch = one.y_batch = 0;
    one.channels = one.x_column = k->wide;
% if depthwise:
    one.y_column = k->wide;
    float *const zeros = scratch + 16;
    float *const sums = zeros + k->wide;
    float *const wide = sums + (at_once * k->wide);
    for (int32_t c = 0; c < k->wide; ++c) {
        zeros[c] = 0.0f;
    }
% elif part:
    one.y_column = s->column;
    float *const wide = scratch + 16;
% else:
    one.y_column = (k->outputs + 1) & ~1;
    float *const sums = scratch + 16;
    float *const wide = sums + (at_once * one.y_column);
% endif
    for (int32_t n = 0; n < all->batches; ++n) {
        for (int32_t j = 0; j < all->columns; j += one.columns) {
            const int32_t left = (j * all->column_stride) - all->left;
            one.columns = ((all->columns - j) < at_once) ? (all->columns - j) : at_once;
            one.in_columns = ((one.columns - 1) * all->column_stride) + reach;
            one.x_row = one.in_columns * k->wide;
            one.y_row = one.columns * one.y_column;
            int32_t there = 0; /* rows that the row before has widened, of its windows */
            for (int32_t i = 0; i < all->rows; ++i) {
                const int32_t top = (i * all->row_stride) - all->top;
                const int32_t kept = (there > all->row_stride) ? (there - all->row_stride) : 0;
                tw_sn_moved(wide + (all->row_stride * one.x_row), kept * one.x_row, wide);
                for (int32_t r = kept; r < all->row_taps; ++r) {
                    const int32_t row = top + (r * all->row_dilation);
                    const int32_t some = (row >= 0) && (row < all->in_rows);
                    const ${stored} *const from = some ? (x + ((n * all->x_batch) + (row * all->x_row))) : (const ${stored} *)0;
                    tw_sn_${element}_widen(k, left, one.in_columns, all->in_columns, all->x_column, from, wide + (r * one.x_row));
                }
                there = (all->row_dilation == 1) ? all->row_taps : 0;
% if part:
                float *const sums = acc + ((n * s->batch) + (i * s->row) + (j * s->column));
% endif
% if depthwise:
                ${function}(one, 0.0f, 0.0f, wide, w, zeros, sums);
% elif part:
                ${function}(&one, q, s, 0.0f, 0.0f, wide, w, (const float *)0, sums, (float *)0, scratch);
% else:
                ${function}(&one, q, 0.0f, 0.0f, wide, w, (const float *)0, sums, scratch);
% endif
% if part:
                if (!last) {
                    continue;
                }
% endif
                ${results}(k, sums, one.y_column, one.columns, biases,
                        y + ((n * all->y_batch) + (i * all->y_row) + (j * all->y_column)), all->y_column, scratch);
            }
        }
    }
}
