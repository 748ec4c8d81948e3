<%doc>
Needs function, type, deep (rounds of runs, see products.c.mako), begins and goes_on (the products that the first part and
the others compute), clip.
</%doc>\
<%
    rounds, given = (("tw_sn_rounds rounds, ", "rounds, ") if deep else ("", ""))
%>\
/* Neighbouring pixels, all of whose taps are inside: their sums begin or go on. */
TW_KERNEL void ${function}_run(const tw_sn_products *q, const tw_sn_sums *s, ${rounds}const ${type} *x, const ${type} *w,
        const ${type} *b, ${type} *y, void *lanes)
{
% if begins != goes_on:
    if (s->first) {
        ${begins}_at(q, ${given}0, 0, x, w, b, y, lanes);
        return;
    }
% else:
    (void)s;
% endif
    ${goes_on}_at(q, ${given}0, 0, x, w, b, y, lanes);
}

TW_KERNEL void ${function}_pixels(const tw_sn_windows *p, tw_sn_products *q, const tw_sn_sums *s, tw_sn_inside rows,
        tw_sn_inside columns, const ${type} *x, const ${type} *w, const ${type} *b, ${type} *y, void *lanes)
{
    const int32_t some = (rows.to > rows.from) && (columns.to > columns.from);
% if deep:
    /* Channels of a part that fill their tile are neighbours of those of the next tap. */
    const int32_t joined = (p->channels == p->x_column) && (p->channels == s->w_tap);
    const int32_t tall = some ? (rows.to - rows.from) : 0;
    const int32_t wide = some ? (columns.to - columns.from) : 1;
    const tw_sn_rounds rounds = {joined ? 1 : tall, p->row_dilation * p->x_row, p->column_taps * s->w_tap};
    q->run = joined ? (wide * p->channels) : p->channels;
    q->runs = joined ? tall : wide;
    q->a_run = joined ? rounds.a_round : p->x_column;
    q->b_run = joined ? rounds.b_round : s->w_tap;
% else:
    q->run = some ? ((columns.to - columns.from) * p->channels) : 0;
    q->runs = some ? (rows.to - rows.from) : 0;
% endif
    if (some) {
        x += (rows.from * p->row_dilation * p->x_row) + (columns.from * p->x_column);
        w += ((rows.from * p->column_taps) + columns.from) * s->w_tap;
    }
    ${function}_run(q, s, ${given}x, w, b, y, lanes);
}

/* A row of pixels whose sums are done. */
TW_KERNEL void ${function}_results(const tw_sn_windows *p, const tw_sn_products *q, const tw_sn_sums *s, ${type} low,
        ${type} high, const ${type} *sums, ${type} *y)
{
    const int32_t joined = (s->column == q->outputs) && (p->y_column == q->outputs);
    const int32_t pixels = joined ? 1 : p->columns;
    const int32_t count = joined ? (p->columns * q->outputs) : q->outputs;
    for (int32_t j = 0; j < pixels; ++j) {
        tw_sn_${type}_${clip}_row(sums + (j * s->column), y + (j * p->y_column), count, low, high);
    }
}

/* A part of the channels of a convolution: sums are kept in `acc` from part to part, y is written after the last
 * one. */
TW_SN_APART void ${function}(const tw_sn_windows *p, tw_sn_products *q, const tw_sn_sums *s, ${type} low, ${type} high,
        const ${type} *x, const ${type} *w, const ${type} *b, ${type} *acc, ${type} *y, void *lanes)
{
    const tw_sn_inside whole = tw_sn_columns(p);
    const tw_sn_inside all = {0, p->column_taps};
    q->a_row = p->column_stride * p->x_column;
% if not deep:
    q->a_run = p->row_dilation * p->x_row;
    q->b_run = p->column_taps * p->channels;
% endif
    q->b_output = p->w_output;
    q->b_element = 1;
    q->c_row = s->first ? 0 : s->column;
    q->y_row = s->column;
    for (int32_t n = 0; n < p->batches; ++n) {
        for (int32_t i = 0; i < p->rows; ++i) {
            const int32_t top = (i * p->row_stride) - p->top;
            const tw_sn_inside rows = tw_sn_taps(top, p->row_taps, p->row_dilation, p->in_rows);
            const ${type} *const xr = x + ((n * p->x_batch) + (top * p->x_row) - (p->left * p->x_column));
            ${type} *const sums = acc + ((n * s->batch) + (i * s->row));
            for (int32_t j = 0; j < p->columns; j += q->rows) {
                const int32_t inside = (j == whole.from) && (whole.to > whole.from);
                const tw_sn_inside taps = tw_sn_taps((j * p->column_stride) - p->left, p->column_taps, 1, p->in_columns);
                q->rows = inside ? (whole.to - whole.from) : 1;
                ${function}_pixels(p, q, s, rows, inside ? all : taps, xr + (j * q->a_row), w,
                                   s->first ? b : (sums + (j * s->column)), sums + (j * s->column), lanes);
            }
            if (s->last) {
                ${function}_results(p, q, s, low, high, sums, y + ((n * p->y_batch) + (i * p->y_row)));
            }
        }
    }
}
