<%doc>
Needs name (of the products), function, type (of values), stored (of elements in memory), kind, at_once (pixels whose windows
are copied together).
</%doc>\
<% half = stored != type %>\
/* A window, as weights have it: taps outside are 0, and so is what fills it up to `column` elements. */
TW_SN_APART void ${function}_copy(const tw_sn_windows *p, int32_t x_channel, int32_t top, int32_t left,
        int32_t column, const ${stored} *x, ${type} *to)
{
    const ${type} *const end = to + column;
    const int32_t x_tap = p->column_dilation * p->x_column;
    for (int32_t r = 0; r < p->row_taps; ++r) {
        const int32_t row = top + (r * p->row_dilation);
        const int32_t some = (row >= 0) && (row < p->in_rows);
        const ${stored} *tap = x + ((row * p->x_row) + (left * p->x_column));
        int32_t at = left;
        for (int32_t k = 0; k < p->column_taps; ++k) {
            if (!some || (at < 0) || (at >= p->in_columns)) {
                for (int32_t c = 0; c < p->channels; ++c) {
                    *to++ = 0;
                }
            } else {
% if half:
                tw_sn_${kind}_widen(tap, x_channel, p->channels, to);
                to += p->channels;
% else:
                const ${type} *from = tap;
                for (int32_t c = 0; c < p->channels; ++c) {
                    *to++ = *from;
                    from += x_channel;
                }
% endif
            }
            at += p->column_dilation;
            tap += x_tap;
        }
    }
    for (int32_t left_over = (int32_t)(end - to); left_over > 0; --left_over) {
        *to++ = 0;
    }
}

/* A convolution whose windows are copied beside each other first, ${at_once} pixels of a row at a time. */
TW_SN_APART void ${function}(const tw_sn_windows *p, tw_sn_products *q, int32_t x_channel, ${type} low,
        ${type} high, const ${stored} *x, const ${type} *w, const ${type} *b, ${stored} *y, ${type} *columns, void *lanes)
{
% if half:
    const int32_t y_output = q->y_output;
    ${type} *const results = columns + (${at_once} * p->w_output);
    q->y_row = q->outputs;
    q->y_output = 1;
% else:
    q->y_row = p->y_column;
% endif
    q->run = q->a_row = q->b_output = p->w_output;
    q->runs = q->b_element = 1;
    q->a_run = q->b_run = 0;
    for (int32_t n = 0; n < p->batches; ++n) {
        for (int32_t i = 0; i < p->rows; ++i) {
            for (int32_t j = 0; j < p->columns; j += q->rows) {
                q->rows = ((p->columns - j) < ${at_once}) ? (p->columns - j) : ${at_once};
                ${stored} *const yp = y + ((n * p->y_batch) + (i * p->y_row) + (j * p->y_column));
% if half:
                tw_sn_${kind}_mode(3u);
% endif
                for (int32_t m = 0; m < q->rows; ++m) {
                    ${function}_copy(p, x_channel, (i * p->row_stride) - p->top,
                                     ((j + m) * p->column_stride) - p->left, p->w_output, x + (n * p->x_batch),
                                     columns + (m * p->w_output));
                }
% if half:
                tw_sn_${kind}_mode(0u);
                ${name}_at(q, low, high, columns, w, b, results, lanes);
                tw_sn_${kind}_mode(3u);
                for (int32_t m = 0; m < q->rows; ++m) {
                    tw_sn_${kind}_narrow(results + (m * q->outputs), q->outputs, yp + (m * p->y_column), y_output);
                }
                tw_sn_${kind}_mode(0u);
% else:
                ${name}_at(q, low, high, columns, w, b, yp, lanes);
% endif
            }
        }
    }
}
