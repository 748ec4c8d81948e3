<%doc>
Needs function, kind (see dot.c), limit (see finish.c), weighted (a filter for every channel; else all weights are 1),
twice (two neighbouring windows fit into four taps).

Channels lie in the four bytes of a word, taps in successive words: turned by a quarter, four taps of one channel are
a word, and the dot product of bytes adds them up.
</%doc>\
#ifndef TW_XP_TURN
#define TW_XP_TURN
/* Byte j of t[i] is byte i of r[j]. */
TW_KERNEL void tw_xp_turn(const uint32_t *r, uint32_t *t)
{
    const uint32_t even = UINT32_C(0x05010400), odd = UINT32_C(0x07030602), upper = UINT32_C(0x07060302);
    const uint32_t low01 = tw_xp_shuffle(r[0], r[1], even), high01 = tw_xp_shuffle(r[0], r[1], odd);
    const uint32_t low23 = tw_xp_shuffle(r[2], r[3], even), high23 = tw_xp_shuffle(r[2], r[3], odd);
    t[0] = tw_xp_pack(low01, low23);
    t[1] = tw_xp_shuffle(low01, low23, upper);
    t[2] = tw_xp_pack(high01, high23);
    t[3] = tw_xp_shuffle(high01, high23, upper);
}
#endif

#ifndef ${function.upper()}
#define ${function.upper()}
/* Sums of `pixels` neighbouring windows, 1 or 2, over four channels, or the first `lanes` of them. */
TW_KERNEL void ${function}_sums(const tw_xp_windows *p, int32_t pixels, int32_t lanes, uint32_t rows, uint32_t columns,
        const uint8_t *x, int32_t start, ${"const uint8_t *w, " if weighted else ""}int32_t *acc)
{
    const int32_t taps = p->column_taps + (pixels == 2 ? p->column_stride : 0);
    const int32_t step = p->column_dilation * p->x_column;
    const uint32_t all = (UINT32_C(2) << (taps - 1)) - 1;
    for (int32_t kr = 0; kr < p->row_taps; ++kr, start += p->row_dilation * p->x_row) {
        const uint32_t inside = rows >> kr & 1 ? columns : 0;
% if not weighted:
        if (inside == 0) {
            continue;
        }
% endif
        for (int32_t k = 0; k < taps; k += 4) {
            uint32_t r[4], t[4];
            if (inside == all && lanes == 4) {
% for j in range(4):
                r[${j}] = k + ${j} < taps ? tw_xp_load(x + (start + (k + ${j}) * step)) : 0;
% endfor
            } else {
                for (int32_t j = 0; j < 4; ++j) {
                    r[j] = k + j >= taps ? 0
                        : (inside >> (k + j) & 1 ? tw_xp_load_lanes(x + (start + (k + j) * step), lanes)
                                                 : p->padding);
                }
            }
            tw_xp_turn(r, t);
% for j in range(4):
            const uint32_t w${j} = ${f"tw_xp_load(w + {4 * j})" if weighted else "UINT32_C(0x01010101)"};
            acc[${j}] = tw_xp_sdot_${kind}(acc[${j}], t[${j}], w${j});
% if twice:
            if (pixels == 2) {
                acc[${4 + j}] = tw_xp_sdot_${kind}(acc[${4 + j}], t[${j}], w${j} << (8 * p->column_stride));
            }
% endif
% endfor
% if weighted:
            w += 16;
% endif
        }
    }
}

% if weighted:
TW_KERNEL void ${function}(const tw_xp_windows p, const uint8_t *x, const uint8_t *w, const int32_t *b, uint8_t *y)
% else:
/* `zero` is the zero point of x. `b` has one scale for all windows, or one for every count of elements. With `padding`,
 * positions before `row_end` and `column_end` count. */
TW_KERNEL void ${function}(const tw_xp_windows p, int32_t zero, int32_t scales, int32_t padding, int32_t row_end,
        int32_t column_end, const uint8_t *x, const int32_t *b, uint8_t *y)
% endif
{
    for (int32_t c = 0; c < p.outputs; c += 4) {
        const int32_t lanes = p.outputs - c < 4 ? p.outputs - c : 4;
        for (int32_t n = 0; n < p.batches; ++n) {
            for (int32_t i = 0; i < p.rows; ++i) {
                const int32_t top = i * p.row_stride - p.top;
                const uint32_t rows = tw_xp_inside(top, p.row_taps, p.row_dilation, p.in_rows);
                uint8_t *to = y + n * p.y_batch + i * p.y_row + c;
                for (int32_t j = 0; j < p.columns;) {
                    const int32_t left = j * p.column_stride - p.left;
                    const int32_t start = n * p.x_batch + top * p.x_row + left * p.x_column + c;
                    int32_t acc[8] = {${", ".join("b[%d]" % (j % 4) if weighted else "0" for j in range(8))}};
% if twice:
                    if (j + 1 < p.columns) {
                        const uint32_t both = tw_xp_inside(left, p.column_taps + p.column_stride, 1, p.in_columns);
                        ${function}_sums(&p, 2, lanes, rows, both, x, start, w, acc);
                        tw_xp_finish_${limit}(2, acc, b, lanes, p.to, to, to + p.y_column);
                        to += 2 * p.y_column;
                        j += 2;
                        continue;
                    }
% endif
                    const uint32_t columns = tw_xp_inside(left, p.column_taps, p.column_dilation, p.in_columns);
                    ${function}_sums(&p, 1, lanes, rows, columns, x, start, ${"w, " if weighted else ""}acc);
% if weighted:
                    tw_xp_finish_${limit}(1, acc, b, lanes, p.to, to, to);
% else:
                    const int32_t inside = tw_xp_taps_inside(top, p.row_taps, p.row_dilation, p.in_rows)
                        * tw_xp_taps_inside(left, p.column_taps, p.column_dilation, p.in_columns);
                    const int32_t counted = !padding ? inside
                        : tw_xp_taps_before(top, p.row_taps, p.row_dilation, row_end)
                            * tw_xp_taps_before(left, p.column_taps, p.column_dilation, column_end);
                    const int32_t s = b[scales == 1 || counted < 1 ? 0 : counted - 1];
                    const int32_t scale[8] = {0, 0, 0, 0, s, s, s, s};
                    for (int32_t k = 0; k < 4; ++k) {
                        acc[k] -= inside * zero;
                    }
                    tw_xp_finish_${limit}(1, acc, scale, lanes, p.to, to, to);
% endif
                    to += p.y_column;
                    j += 1;
                }
            }
        }
% if weighted:
        w += 16 * p.row_taps * ((p.column_taps + 3) / 4);
        b += 8;
% endif
    }
}
#endif
