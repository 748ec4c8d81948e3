<%doc>
Needs function, kind (see dot.c), limit (see finish.c), weighted (a filter for every channel; else all weights are 1),
loads (taps of a row that one window reads, or 4 where it reads more), pair (taps that two neighbouring windows read, 0
where they are more than four).
</%doc>\
<%
    block = f"tw_xp_{'taps' if weighted else 'ones'}"
    weights = "w, " if weighted else ""
%>\
#ifndef ${function.upper()}
#define ${function.upper()}
% for pixels, taps in ((1, loads), (2, pair)) if pair else ((1, loads),):
<% shift = "8 * p->column_stride, " if pixels == 2 else "" %>\
/* Sums of ${"two neighbouring windows" if pixels == 2 else "one window"} over four channels, or the first `lanes` of them. */
TW_KERNEL void ${function}_sums${pixels}(const tw_xp_windows *p, int32_t lanes, uint32_t rows, uint32_t columns,
        const uint8_t *x, int32_t start, ${"const uint8_t *w, " if weighted else ""}int32_t *acc)
{
    const int32_t taps = p->column_taps${" + p->column_stride" if pixels == 2 else ""};
    const int32_t step = p->column_dilation * p->x_column, row = p->row_dilation * p->x_row;
    const uint32_t all = (UINT32_C(2) << (taps - 1)) - 1, all_rows = (UINT32_C(2) << (p->row_taps - 1)) - 1;
    if (columns == all && rows == all_rows && lanes == 4 && taps == ${taps}) {
        ${block}${pixels}x${taps}_${kind}(p->row_taps, x + start, step, row - ${taps - 1} * step, ${weights}${shift}acc);
        return;
    }
<%def name="gathered(k)">\
            uint32_t r[4] = {0, 0, 0, 0}; /* what lies outside, and what no weight belongs to */
            for (int32_t j = 0; j < 4 && ${k} + j < taps; ++j) {
                r[j] = inside >> (${k} + j) & 1 ? tw_xp_load_lanes(x + (at + (${k} + j) * step), lanes) : p->padding;
            }
</%def>\
% if weighted:
    for (int32_t kr = 0; kr < p->row_taps; ++kr) {
        const uint32_t inside = rows >> kr & 1 ? columns : 0;
        const int32_t at = start + kr * row;
        for (int32_t k = 0; k < taps; k += 4, w += 16) {
${gathered("k")}\
            ${block}${pixels}x4_${kind}(1, (const uint8_t *)r, 4, 0, ${weights}${shift}acc);
        }
    }
% else:
    for (int32_t k = 0; k < taps; k += 4) {
        if (columns == all && rows == all_rows && lanes == 4 && k + 4 <= taps) {
            ${block}1x4_${kind}(p->row_taps, x + (start + k * step), step, row - 3 * step, acc);
            continue;
        }
        for (int32_t kr = 0; kr < p->row_taps; ++kr) {
            const uint32_t inside = rows >> kr & 1 ? columns : 0;
            const int32_t at = start + kr * row;
${gathered("k")}\
            ${block}1x4_${kind}(1, (const uint8_t *)r, 4, 0, acc);
        }
    }
% endif
}

% endfor
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
% if pair:
                    if (j + 1 < p.columns) {
                        const uint32_t both = tw_xp_inside(left, p.column_taps + p.column_stride, 1, p.in_columns);
                        ${function}_sums2(&p, lanes, rows, both, x, start, w, acc);
                        tw_xp_finish_${limit}(2, acc, b, lanes, p.to, to, to + p.y_column);
                        to += 2 * p.y_column;
                        j += 2;
                        continue;
                    }
% endif
                    const uint32_t columns = tw_xp_inside(left, p.column_taps, p.column_dilation, p.in_columns);
                    ${function}_sums1(&p, lanes, rows, columns, x, start, ${"w, " if weighted else ""}acc);
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
% for j in range(4):
                    acc[${j}] -= inside * zero;
% endfor
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
