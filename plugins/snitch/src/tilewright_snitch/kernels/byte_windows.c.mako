<%doc>
Needs bytes (what this defines), form ("whole", "part" or "depthwise"), results (which requantises), element and stored (of
x); name (products of a row of windows), of a part deep (rounds of runs, see products.c.mako), of "depthwise" function (sums
of taps, see taps.c.mako).
</%doc>\
<%
    part, depthwise = form == "part", form == "depthwise"
    here = {one: one if depthwise else f"all->{field}" for one, field in
            (("row_dilation", "row_dilation"), ("in_row", "x_row"), ("in_column", "x_column"), ("out_column", "y_column"))}
    rounds, given = (("const tw_sn_rounds rounds = {joined ? 1 : all->row_taps, x_row, all->column_taps * s->w_tap};", "rounds, ") if part and deep
                     else ("", ""))
%>\
/* Convolution of bytes by float32: what a row of the output reaches is widened, and multiplied by streams; sums are
 * exact, and requantised.${" Sums of a part of the channels are kept in `acc`." if part else ""} Behind the layer, which this changes: ${"zeros for all channels, " if depthwise else ""}${"" if part else "sums, "}
 * and what is widened. */
TW_SN_APART void ${bytes}(tw_sn_byte_layer *layer, const ${stored} *x, const float *w, const float *biases,
        ${"float *acc, " if part else ""}uint8_t *y)
{
    tw_sn_windows *const all = &layer->windows;
    const tw_sn_bytes *const k = &layer->bytes;
% if part:
    const tw_sn_sums *const s = &layer->sums;
% endif
    if ((all->row_taps == 1) && (all->column_taps == 1) && (all->row_stride == 1) && (all->column_stride == 1) && (all->top == 0)
        && (all->left == 0) && (all->in_rows == all->rows) && (all->in_columns == all->columns)
        && (all->x_row == (all->columns * all->x_column)) && (all->y_row == (all->columns * all->y_column))${" && (s->row == (all->columns * s->column))" if part else ""}) {
        all->columns *= all->rows; /* all of it is one row */
        all->in_columns = all->columns;
        all->rows = all->in_rows = 1;
    }
    const int32_t at_once = (all->columns < k->at_once) ? all->columns : k->at_once;
% if depthwise:
    ${function}_run q = {.channels = k->wide, .x_pixel = all->column_stride * k->wide};
    q.rows.to = all->row_taps;
    q.columns.to = all->column_taps;
    const int32_t row_dilation = all->row_dilation; /* of the image; `all` will say those of what is widened */
    const int32_t in_row = all->x_row, in_column = all->x_column, out_column = all->y_column;
    all->row_dilation = 1;
    all->x_column = all->y_column = k->wide;
    float *const zeros = (float *)(layer + 1);
    float *const sums = tw_sn_filled(zeros, k->wide, 0.0f);
    float *const wide = sums + (at_once * k->wide);
    const int32_t step = k->wide;
% else:
    tw_sn_products *const q = &layer->products;
    q->outputs = k->outputs;
    q->a_row = all->column_stride * k->wide;
    q->b_output = all->w_output;
    q->b_element = q->c_output = q->y_output = 1;
% if part and deep:
    const int32_t joined = k->wide == s->w_tap; /* the part fills its tile: weights of a row of taps are neighbours */
    q->run = joined ? (all->column_taps * k->wide) : k->wide;
    q->runs = joined ? all->row_taps : all->column_taps;
    q->b_run = joined ? (all->column_taps * s->w_tap) : s->w_tap;
% else:
    q->run = q->b_run = all->column_taps * k->wide;
    q->runs = all->row_taps;
% endif
% if part:
    const int32_t step = s->column;
    float *const wide = (float *)(layer + 1);
    q->c_row = step;
% else:
    const int32_t step = (k->outputs + 1) & ~1;
    float *const sums = (float *)(layer + 1);
    float *const wide = sums + (at_once * step);
    q->c_row = 0;
% endif
    q->y_row = step;
% endif
    for (int32_t n = 0; n < all->batches; ++n) {
        int32_t columns = 0;
        for (int32_t j = 0; j < all->columns; j += columns) {
            columns = ((all->columns - j) < at_once) ? (all->columns - j) : at_once;
            const int32_t seen = ((columns - 1) * all->column_stride) + ((all->column_taps - 1) * all->column_dilation) + 1;
            const int32_t x_row = seen * k->wide;
            int32_t there = 0; /* rows that the row before has widened, of its windows */
% if depthwise:
            q.pixels = columns;
            all->x_row = x_row;
% else:
            q->rows = columns;
            q->a_run = ${"joined ? x_row : k->wide" if part and deep else "x_row"};
% endif
            for (int32_t i = 0; i < all->rows; ++i) {
                const int32_t top = (i * all->row_stride) - all->top;
                const int32_t kept = (there > all->row_stride) ? (there - all->row_stride) : 0;
                tw_sn_moved(wide + (all->row_stride * x_row), kept * x_row, wide);
                for (int32_t r = kept; r < all->row_taps; ++r) {
                    const int32_t row = top + (r * ${here["row_dilation"]});
                    const int32_t some = (row >= 0) && (row < all->in_rows);
                    const ${stored} *const from = some ? (x + ((n * all->x_batch) + (row * ${here["in_row"]}))) : (const ${stored} *)0;
                    tw_sn_${element}_widen(k, (j * all->column_stride) - all->left, seen, all->in_columns, ${here["in_column"]}, from,
                            wide + (r * x_row));
                }
                there = (${here["row_dilation"]} == 1) ? all->row_taps : 0;
% if depthwise:
                ${function}_pixels(all, &q, 1.0f, 0.0f, 0.0f, wide, w, zeros, sums);
% elif part:
                float *const sums = acc + ((n * s->batch) + (i * s->row) + (j * step));
% if deep:
                ${rounds}
% endif
                for (int32_t m = 0; s->first && (m < columns); ++m) { /* products without this would be code beside the same */
                    (void)tw_sn_filled(sums + (m * step), k->outputs, 0.0f);
                }
                ${name}_at(q, ${given}0.0f, 0.0f, wide, w, sums, sums, layer->lanes);
                if (!s->last) {
                    continue;
                }
% else:
                ${name}_at(q, 0.0f, 0.0f, wide, w, (const float *)0, sums, layer->lanes);
% endif
                ${results}(k, sums, step, columns, biases,
                        y + ((n * all->y_batch) + (i * all->y_row) + (j * ${here["out_column"]})), ${here["out_column"]}, layer->lanes);
            }
        }
    }
}
