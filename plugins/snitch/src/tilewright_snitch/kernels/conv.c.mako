<%doc>
Needs name (of the products), function, type, clip; joined (taps of a row are neighbours in x; otherwise no streams).
</%doc>\
% if joined:
/* Windows of neighbouring pixels in a row, all of whose taps `columns` are inside. */
TW_KERNEL void ${function}_pixels(const tw_sn_windows *p, tw_sn_products *q, tw_sn_inside rows, tw_sn_inside columns,
        ${type} low, ${type} high, const ${type} *x, const ${type} *w, const ${type} *b, ${type} *y, void *lanes)
{
    const int32_t some = (rows.to > rows.from) && (columns.to > columns.from);
    q->run = some ? ((columns.to - columns.from) * p->channels) : 0;
    q->runs = some ? (rows.to - rows.from) : 0;
    if (some) {
        x += (rows.from * p->row_dilation * p->x_row) + (columns.from * p->x_column);
        w += ((rows.from * p->column_taps) + columns.from) * p->channels;
    }
    ${name}_at(q, low, high, x, w, b, y, lanes);
}

/* A convolution over channels that are neighbours: rows of pixels at once, pixels at the edges one by one. */
TW_SN_APART void ${function}(tw_sn_windows *p, tw_sn_products *q, ${type} low, ${type} high, const ${type} *x,
        const ${type} *w, const ${type} *b, ${type} *y, void *lanes)
{
    if ((p->row_taps == 1) && (p->column_taps == 1) && (p->row_stride == 1) && (p->column_stride == 1) && (p->top == 0) && (p->left == 0)
        && (p->in_rows == p->rows) && (p->in_columns == p->columns) && (p->x_row == (p->columns * p->x_column))
        && (p->y_row == (p->columns * p->y_column))) {
        p->columns *= p->rows; /* all of it is one row */
        p->in_columns = p->columns;
        p->rows = p->in_rows = 1;
    }
    const tw_sn_inside whole = tw_sn_columns(p);
    const tw_sn_inside all = {0, p->column_taps};
    q->a_row = p->column_stride * p->x_column;
    q->a_run = p->row_dilation * p->x_row;
    q->b_output = p->w_output;
    q->b_run = p->column_taps * p->channels;
    q->b_element = 1;
    q->y_row = p->y_column;
    for (int32_t n = 0; n < p->batches; ++n) {
        for (int32_t i = 0; i < p->rows; ++i) {
            const int32_t top = (i * p->row_stride) - p->top;
            const tw_sn_inside rows = tw_sn_taps(top, p->row_taps, p->row_dilation, p->in_rows);
            const ${type} *const xr = x + ((n * p->x_batch) + (top * p->x_row) - (p->left * p->x_column));
            ${type} *const yr = y + ((n * p->y_batch) + (i * p->y_row));
            for (int32_t j = 0; j < p->columns; j += q->rows) {
                const int32_t inside = (j == whole.from) && (whole.to > whole.from);
                const tw_sn_inside taps = tw_sn_taps((j * p->column_stride) - p->left, p->column_taps, 1, p->in_columns);
                q->rows = inside ? (whole.to - whole.from) : 1;
                ${function}_pixels(p, q, rows, inside ? all : taps, low, high, xr + (j * q->a_row), w, b, yr + (j * p->y_column),
                                   lanes);
            }
        }
    }
}
% else:
/* One output of a convolution over channels that are neighbours, while taps are not. */
TW_KERNEL ${type} ${function}_sum(const tw_sn_windows *p, tw_sn_inside rows, tw_sn_inside columns, const ${type} *x,
        const ${type} *w)
{
    ${type} sum = 0;
    for (int32_t r = rows.from; r < rows.to; ++r) {
        for (int32_t k = columns.from; k < columns.to; ++k) {
            const ${type} *const xt = x + ((r * p->row_dilation * p->x_row) + (k * p->x_column));
            const ${type} *const wt = w + (((r * p->column_taps) + k) * p->channels);
            for (int32_t c = 0; c < p->channels; ++c) {
                sum += xt[c] * wt[c];
            }
        }
    }
    return sum;
}

TW_SN_APART void ${function}(const tw_sn_windows *p, const tw_sn_products *q, ${type} low, ${type} high, const ${type} *x,
        const ${type} *w, const ${type} *b, ${type} *y, void *lanes)
{
    (void)lanes;
    for (int32_t n = 0; n < p->batches; ++n) {
        for (int32_t i = 0; i < p->rows; ++i) {
            const int32_t top = (i * p->row_stride) - p->top;
            const tw_sn_inside rows = tw_sn_taps(top, p->row_taps, p->row_dilation, p->in_rows);
            for (int32_t j = 0; j < p->columns; ++j) {
                const int32_t left = (j * p->column_stride) - p->left;
                const tw_sn_inside columns = tw_sn_taps(left, p->column_taps, 1, p->in_columns);
                const ${type} *const xt = x + ((n * p->x_batch) + (top * p->x_row) + (left * p->x_column));
                ${type} *const yt = y + ((n * p->y_batch) + (i * p->y_row) + (j * p->y_column));
                for (int32_t o = 0; o < q->outputs; ++o) {
                    const ${type} sum = ${function}_sum(p, rows, columns, xt, w + (o * p->w_output));
                    yt[o * q->y_output] = tw_sn_${type}_${clip}(b ? (sum + b[o]) : sum, low, high);
                }
            }
        }
    }
}
% endif
