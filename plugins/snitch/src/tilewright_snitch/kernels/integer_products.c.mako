<%doc>
Needs function and type (of x, as bytes: int8_t or uint8_t).
</%doc>\
/* A run of bytes, or of `outside` where `x` is null, into every `apart`th byte. */
TW_KERNEL ${type} *${function}_run(const ${type} *x, int32_t bytes, int32_t outside, int32_t apart, ${type} *to)
{
    int32_t left = bytes;
    if (x) {
        for (; left >= 4; left -= 4) {
            const ${type} b0 = x[0];
            const ${type} b1 = x[1];
            const ${type} b2 = x[2];
            const ${type} b3 = x[3];
            to[0] = b0;
            to[apart] = b1;
            to[2 * apart] = b2;
            to[3 * apart] = b3;
            x += 4;
            to += 4 * apart;
        }
    }
    for (; left > 0; --left) {
        *to = x ? *x++ : (${type})outside;
        to += apart;
    }
    return to;
}

/* A window as weights have it: every `apart`th byte of a block of columns. */
TW_KERNEL void ${function}_window(const tw_sn_windows *p, const tw_sn_integers *q, int32_t top, int32_t left,
        int32_t apart, const ${type} *x, ${type} *to)
{
    const ${type} *const end = to + (q->depth * apart);
    const int32_t reach = left + ((p->column_taps - 1) * p->column_dilation);
    const int32_t whole = q->joined && (left >= 0) && (reach < p->in_columns);
    for (int32_t r = 0; r < p->row_taps; ++r) {
        const int32_t row = top + (r * p->row_dilation);
        const int32_t some = (row >= 0) && (row < p->in_rows);
        if (some && whole) {
            const ${type} *const from = x + ((row * p->x_row) + (left * p->x_column));
            to = ${function}_run(from, p->column_taps * p->channels, 0, apart, to);
            continue;
        }
        for (int32_t k = 0; k < p->column_taps; ++k) {
            const int32_t at = left + (k * p->column_dilation);
            const int32_t inside = some && (at >= 0) && (at < p->in_columns);
            const ${type} *const from = inside ? (x + ((row * p->x_row) + (at * p->x_column))) : (const ${type} *)0;
            to = ${function}_run(from, p->channels, q->pad, apart, to);
        }
    }
    for (; to < end; to += apart) {
        *to = 0;
    }
}

% for pixels in (4, 1):
/* All outputs of ${"four pixels" if pixels == 4 else "one pixel"}, four at a time. Windows are in x, a byte of each in turn.
 * Parameters of each four outputs: biases, then scales. */
TW_SN_APART void ${function}_${pixels}(const tw_sn_integers q, const ${type} *columns, const int8_t *w,
        const int32_t *parameters, uint8_t *const *to)
{
    const float low = (float)(q.low - q.zero_point);
    const float high = (float)(q.high - q.zero_point);
    for (int32_t o = 0; o < q.outputs; o += 4) {
        const ${type} *x = columns;
        const int8_t *const end = w + (4 * q.depth);
% for j in range(4):
% for m in range(pixels):
        int32_t s${j}${m} = parameters[${j}];
% endfor
% endfor
        do {
% for k in range(4):
            {
% for j in range(4):
                const int32_t w${j} = w[${4 * k + j}];
% endfor
% for m in range(pixels):
                const int32_t x${m} = x[${pixels * k + m}];
% if m % 2:
                TW_SN_NO_SOONER
% endif
% for j in range(4):
                s${j}${m} += w${j} * x${m};
% endfor
% endfor
                TW_SN_NO_SOONER
            }
% endfor
            w += 16;
            x += ${4 * pixels};
        } while (w != end);
% for j in range(4):
        if ((q.outputs - o) > ${j}) {
            const float scale = tw_sn_scale(parameters[${4 + j}]);
% for m in range(pixels):
            const uint8_t y${m} = tw_sn_requantised(s${j}${m}, scale, low, high, q.zero_point);
% endfor
% for m in range(pixels):
            to[${m}][${added("o", j)}] = y${m};
% endfor
        }
% endfor
        parameters += 8;
    }
}

% endfor
/* A convolution or a product of bytes with constant weights, four pixels at a time, the last ones one by one. */
TW_SN_APART void ${function}(const tw_sn_windows p, const tw_sn_integers q, const ${type} *x, const int8_t *w,
        const int32_t *parameters, uint8_t *y, ${type} *columns)
{
    tw_sn_place at = {0, 0, 0};
    uint8_t *to[4] = {y, y, y, y};
    for (int32_t left = p.batches * p.rows * p.columns, count; left > 0; left -= count) {
        count = (left < 4) ? 1 : 4;
        for (int32_t m = 0; m < count; ++m) {
            to[m] = y + ((at.batch * p.y_batch) + (at.row * p.y_row) + (at.column * p.y_column));
            ${function}_window(&p, &q, (at.row * p.row_stride) - p.top, (at.column * p.column_stride) - p.left, count,
                               x + (at.batch * p.x_batch), columns + m);
            tw_sn_next(&p, &at);
        }
        if (count == 4) {
            ${function}_4(q, columns, w, parameters, to);
        } else {
            ${function}_1(q, columns, w, parameters, to);
        }
    }
}
