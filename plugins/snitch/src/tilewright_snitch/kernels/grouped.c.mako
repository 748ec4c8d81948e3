<%doc>
Needs name (of the products), function, type.
</%doc>\
/* Groups: outputs of each, and where the tile begins in the whole tensors. */
typedef struct {
    int32_t outputs;
    int32_t first_output;
    int32_t first_channel;
} ${function}_of;

/* Windows of neighbouring pixels in a row, all of whose taps `columns` are inside, of one group. */
TW_KERNEL void ${function}_pixels(const tw_sn_windows *p, tw_sn_products *q, tw_sn_inside rows, tw_sn_inside columns,
        ${type} low, ${type} high, const ${type} *x, const ${type} *w, const ${type} *b, ${type} *y, void *lanes)
{
    const int32_t some = (rows.to > rows.from) && (columns.to > columns.from);
    const tw_sn_rounds rounds = {some ? (rows.to - rows.from) : 0, p->row_dilation * p->x_row, p->column_taps * p->channels};
    q->runs = some ? (columns.to - columns.from) : 1;
    if (some) {
        x += (rows.from * rounds.a_round) + (columns.from * q->a_run);
        w += (rows.from * rounds.b_round) + (columns.from * q->b_run);
    }
    ${name}_at(q, rounds, low, high, x, w, b, y, lanes);
}

/* One group: rows of pixels at once, pixels at the edges one by one. */
TW_KERNEL void ${function}_one(const tw_sn_windows *p, tw_sn_products *q, ${type} low, ${type} high, const ${type} *x,
        const ${type} *w, const ${type} *b, ${type} *y, void *lanes)
{
    const tw_sn_inside whole = tw_sn_columns(p);
    for (int32_t n = 0; n < p->batches; ++n) {
        for (int32_t i = 0; i < p->rows; ++i) {
            const int32_t top = (i * p->row_stride) - p->top;
            const tw_sn_inside rows = tw_sn_taps(top, p->row_taps, p->row_dilation, p->in_rows);
            const ${type} *const xr = x + ((n * p->x_batch) + (top * p->x_row) - (p->left * p->x_column));
            ${type} *const yr = y + ((n * p->y_batch) + (i * p->y_row));
            for (int32_t j = 0; j < p->columns; j += q->rows) {
                const int32_t inside = (j == whole.from) && (whole.to > whole.from);
                const tw_sn_inside taps = tw_sn_taps((j * p->column_stride) - p->left, p->column_taps, p->column_dilation,
                                                     p->in_columns);
                q->rows = inside ? (whole.to - whole.from) : 1;
                ${function}_pixels(p, q, rows, taps, low, high, xr + (j * q->a_row), w, b, yr + (j * p->y_column), lanes);
            }
        }
    }
}

/* A convolution of groups over channels that are neighbours; the tile may begin and end inside a group. */
TW_SN_APART void ${function}(const tw_sn_windows *p, tw_sn_products *q, const ${function}_of g, ${type} low, ${type} high,
        const ${type} *x, const ${type} *w, const ${type} *b, ${type} *y, void *lanes)
{
    const int32_t outputs = q->outputs;
    q->run = q->b_run = p->channels;
    q->a_row = p->column_stride * p->x_column;
    q->a_run = p->column_dilation * p->x_column;
    q->b_output = p->w_output;
    q->b_element = 1;
    q->y_row = p->y_column;
    for (int32_t o = 0; o < outputs; o += q->outputs) {
        const int32_t group = (g.first_output + o) / g.outputs;
        const int32_t left = ((group + 1) * g.outputs) - g.first_output - o;
        q->outputs = (left < (outputs - o)) ? left : (outputs - o);
        ${function}_one(p, q, low, high, x + ((group * p->channels) - g.first_channel), w + (o * p->w_output), b ? &b[o] : b,
                        y + (o * q->y_output), lanes);
    }
}
