<%doc>
Needs function, element and stored (of a).
</%doc>\
% for rows in (4, 1):
/* All outputs of ${"four rows" if rows == 4 else "one row"}, four at a time: their elements of w are in turn; parameters are biases, then scales. */
TW_SN_APART void ${function}_${rows}(const tw_sn_bytes *k, int32_t depth, const ${stored} *const *a, const int8_t *w,
        const float *parameters, uint8_t *const *y)
{
    for (int32_t o = 0; o < k->outputs; o += 4) {
% for r in range(rows):
        const ${stored} *a${r} = a[${r}];
% for j in range(4):
        float s${j}${r} = 0.0f;
% endfor
% endfor
        const int8_t *const end = w + (4 * depth);
% for unrolled in ((4, 1) if rows == 1 else (2, 1)):
% if unrolled > 1:
        for (const int8_t *const last = end - ${4 * (unrolled - 1)}; w < last;) {
% else:
        while (w < end) {
% endif
% for at in range(unrolled):
            {
% for j in range(4):
                const int32_t b${j} = w[${4 * at + j}];
% endfor
% for r in range(rows):
                const int32_t c${r} = a${r}[${at}];
% endfor
% for r in range(rows):
                const float x${r} = (float)c${r};
% endfor
% for j in range(4):
                const float w${j} = (float)b${j};
% for r in range(rows):
                s${j}${r} = TW_SN_FMA(w${j}, x${r}, s${j}${r});
% endfor
% endfor
            }
% endfor
            w += ${4 * unrolled};
% for r in range(rows):
            a${r} += ${unrolled};
% endfor
        }
% endfor
% for j in range(4):
        if ((k->outputs - o) > ${j}) {
% for r in range(rows):
            y[${r}][${added("o", j)}] = tw_sn_byte_of(k, s${j}${r}, parameters[${j}], parameters[${4 + j}]);
% endfor
        }
% endfor
        parameters += 8;
    }
}

% endfor
/* Rows of bytes times a constant matrix of bytes, in the float unit: four rows at a time, the last ones one by one. */
TW_SN_APART void ${function}(const tw_sn_windows *p, const tw_sn_bytes *k, const ${stored} *x, const int8_t *w,
        const float *parameters, uint8_t *y)
{
    tw_sn_place at = {0, 0, 0};
    const ${stored} *from[4] = {x, x, x, x};
    uint8_t *to[4] = {y, y, y, y};
    int32_t count = 0;
    for (int32_t left = p->batches * p->rows * p->columns; left > 0; left -= count) {
        count = (left < 4) ? 1 : 4;
        for (int32_t m = 0; m < count; ++m) {
            from[m] = x + ((at.batch * p->x_batch) + (at.row * p->x_row) + (at.column * p->x_column));
            to[m] = y + ((at.batch * p->y_batch) + (at.row * p->y_row) + (at.column * p->y_column));
            tw_sn_next(p, &at);
        }
        if (count == 4) {
            ${function}_4(k, p->channels, from, w, parameters, to);
        } else {
            ${function}_1(k, p->channels, from, w, parameters, to);
        }
    }
}
