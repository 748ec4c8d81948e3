<%doc>
Needs function, kind (see dot.c), limit (see finish.c), weighted (a filter for every channel; else all weights are 1),
taps (of a row), pair (taps that two neighbouring windows read, 0 where they are more than four), edges (taps may lie
outside). A row is read in groups of four taps, or what is left; weights are stored group by group.
</%doc>\
#include "rows.h"

<%
    block = f"tw_xp_{'taps' if weighted else 'ones'}"
    groups = [(first, min(4, taps - first)) for first in range(0, taps, 4)]
    parameters = "const uint8_t *w, " if weighted else "const tw_xp_counts *counts, "
    arguments = "w, " if weighted else "&counts, "
    first_sums = ", ".join(f"b[{j % 4}]" if weighted else "0" for j in range(8))
%>\
<%def name="finish(pixels, p, lanes, at, counts='counts.')">\
% if weighted:
                tw_xp_finish_${limit}(${pixels}, acc, b, ${lanes}, ${p}to, ${at}, ${at}${f" + {p}y_column" if pixels == 2 else ""});
% else:
                const int32_t inside = (rows.last - rows.first)
                    * tw_xp_taps_inside(left, ${p}column_taps, ${p}column_dilation, ${p}in_columns);
                const int32_t counted = !${counts}padding ? inside
                    : tw_xp_taps_before(top, ${p}row_taps, ${p}row_dilation, ${counts}row_end)
                        * tw_xp_taps_before(left, ${p}column_taps, ${p}column_dilation, ${counts}column_end);
                const int32_t s = b[${counts}scales == 1 || counted < 1 ? 0 : counted - 1];
                const int32_t scale[8] = {0, 0, 0, 0, s, s, s, s};
% for j in range(4):
                acc[${j}] -= inside * ${counts}zero_point;
% endfor
                tw_xp_finish_${limit}(1, acc, scale, ${lanes}, ${p}to, ${at}, ${at});
% endif
</%def>\
/* Column `j` of the output, the first `lanes` of four channels. */
TW_XP_APART void ${function}_column(const tw_xp_windows *p, int32_t lanes, int32_t j, const uint8_t *x, \
${parameters}const int32_t *b, uint8_t *y)
{
    const int32_t step = p->column_dilation * p->x_column;
    const int32_t row = p->row_dilation * p->x_row;
    const int32_t left = (j * p->column_stride) - p->left;
    const uint32_t columns = tw_xp_inside(left, p->column_taps, p->column_dilation, p->in_columns);
    for (int32_t n = 0; n < p->batches; ++n) {
        for (int32_t i = 0; i < p->rows; ++i) {
            const int32_t top = (i * p->row_stride) - p->top;
            const tw_xp_rows rows = tw_xp_rows_inside(p, top);
            const int32_t start = (n * p->x_batch) + (top * p->x_row) + (left * p->x_column);
            uint8_t *const to = y + (n * p->y_batch) + (i * p->y_row) + (j * p->y_column);
            int32_t acc[8] = {${first_sums}};
            for (int32_t k = 0; k < p->column_taps; k += 4) {
                for (int32_t kr = 0; kr < p->row_taps; ++kr) {
                    const uint32_t inside = ((kr >= rows.first) && (kr < rows.last)) ? columns : 0;
                    const uint8_t *const from = x + (start + (kr * row) + (k * step));
                    uint32_t r[4] = {0, 0, 0, 0}; /* what no weight belongs to */
% for tap in range(4):
                    if (${added("k", tap)} < p->column_taps) {
                        r[${tap}] = ((inside >> ${f"(k + {tap})" if tap else "k"}) & 1) ? tw_xp_load_lanes(${added("from", times(tap, "step"))}, lanes) : p->padding;
                    }
% endfor
                    ${block}1x4_${kind}(1, (const uint8_t *)r, 4, 0, \
${"w + 16 * (k / 4 * p->row_taps + kr), " if weighted else ""}acc);
                }
            }
${finish(1, "p->", "lanes", "to", "counts->")}\
        }
    }
}

% if edges:
/* The same over four channels. */
TW_XP_APART void ${function}_edge(const tw_xp_windows *given, int32_t j, const uint8_t *x, ${parameters}const int32_t *b,
        uint8_t *y)
{
    const tw_xp_windows p = *given;
    const int32_t step = p.column_dilation * p.x_column;
    const int32_t row = p.row_dilation * p.x_row;
    const int32_t left = (j * p.column_stride) - p.left;
    const uint32_t columns = tw_xp_inside(left, p.column_taps, p.column_dilation, p.in_columns);
    const uint32_t padding = p.padding;
    const uint8_t *const pad = (const uint8_t *)&padding;
    int32_t top = -p.top;
    y += j * p.y_column;
% for tap in range(taps):
    const int32_t in${tap} = -(int32_t)((columns >> ${tap}) & 1);
    const uint8_t *const from${tap} = in${tap} ? x + (${added("left * p.x_column", times(tap, "step"))}) : pad;
% endfor
    for (int32_t n = 0; n < p.batches; ++n) {
        top = -p.top;
        for (int32_t i = 0; i < p.rows; ++i) {
            const tw_xp_rows rows = tw_xp_rows_inside(&p, top);
            const int32_t at = (n * p.x_batch) + ((top + (rows.first * p.row_dilation)) * p.x_row);
            const int32_t count = rows.last - rows.first;
            uint8_t *const to = y + (n * p.y_batch) + (i * p.y_row);
            int32_t acc[8] = {${first_sums}};
% for number, (first, some) in enumerate(groups):
<%
    places = ", ".join(
        f"from{first + tap} + (at & in{first + tap}), row & in{first + tap}" if tap < some else "pad, 0"
        for tap in range(4))
    begin = f"w + 16 * {number} * p.row_taps" if number else "w"
%>\
% if weighted:
            if (rows.first > 0) {
                ${block}1x${some}_${kind}(rows.first, pad, 0, 0, ${begin}, acc);
            }
            if (count > 0) {
                ${block}_apart_${kind}(count, ${places},
                    ${begin} + (16 * rows.first), acc);
            }
            if (rows.last < p.row_taps) {
                ${block}1x${some}_${kind}(p.row_taps - rows.last, pad, 0, 0, ${begin} + (16 * rows.last), acc);
            }
% else:
            if (count > 0) {
                ${block}_apart_${kind}(count, ${places}, acc);
            }
% endif
% endfor
${finish(1, "p.", 4, "to", "counts->")}\
            top += p.row_stride;
        }
    }
}

% endif
% for pixels, reads in ((1, groups), (2, [(0, pair)])) if pair else ((1, groups),):
<% shift = "8 * p->column_stride, " if pixels == 2 else "" %>\
/* ${"Two neighbouring windows" if pixels == 2 else "One window"} over four channels; none of their taps lies left or right of the input. */
TW_KERNEL void ${function}_sums${pixels}(const tw_xp_windows *p, tw_xp_rows rows, const uint8_t *x, int32_t start,
        ${"const uint8_t *w, " if weighted else ""}int32_t *acc)
{
    const int32_t step = p->column_dilation * p->x_column;
    const int32_t row = p->row_dilation * p->x_row;
    const uint8_t *const from = x + (start + (rows.first * row));
% if edges:
    const int32_t count = rows.last - rows.first;
% else:
    const int32_t count = p->row_taps;
% endif
% if edges and weighted:
    const uint32_t padding = p->padding;
    const uint8_t *const pad = (const uint8_t *)&padding;
% endif
% for number, (first, some) in enumerate(reads):
<%
    begin = f"w + 16 * {number} * p->row_taps" if number else "w"
    inside = (f"{begin} + 16 * rows.first, " if edges else f"{begin}, ") if weighted else ""
    call = f"{block}{pixels}x{some}_{kind}(count, from{f' + {first} * step' if first else ''}, step, row - {some - 1} * step, {inside}{shift}acc);"
%>\
% if edges and weighted:
    if (rows.first > 0) {
        ${block}${pixels}x${some}_${kind}(rows.first, pad, 0, 0, ${begin}, ${shift}acc);
    }
% endif
% if edges:
    if (count > 0) {
        ${call}
    }
% else:
    ${call}
% endif
% if edges and weighted:
    if (rows.last < p->row_taps) {
        ${block}${pixels}x${some}_${kind}(p->row_taps - rows.last, pad, 0, 0, ${begin} + (16 * rows.last), ${shift}acc);
    }
% endif
% endfor
}

% endfor
TW_KERNEL void ${function}(const tw_xp_windows *given, ${"" if weighted else "const tw_xp_counts counts, "}const uint8_t *x, \
${"const uint8_t *w, " if weighted else ""}const int32_t *b, uint8_t *y)
{
    const tw_xp_windows p = *given; /* what the compiler knows */
    for (int32_t c = 0; c < p.outputs; c += 4, x += 4, y += 4) {
        const int32_t lanes = ((p.outputs - c) < 4) ? (p.outputs - c) : 4;
        /* the columns whose windows lie inside */
        const int32_t room = p.in_columns + p.left - ((p.column_taps - 1) * p.column_dilation);
        const int32_t begin = (p.left + p.column_stride - 1) / p.column_stride;
        const int32_t stop = (room <= 0) ? 0 : (((room - 1) / p.column_stride) + 1);
        const int32_t first = (begin < p.columns) ? begin : p.columns;
        const int32_t last = ((lanes < 4) || (stop <= first)) ? first : ((stop < p.columns) ? stop : p.columns);
        for (int32_t j = 0; j < p.columns; ++j) {
            if (j == first) {
                j = last;
            }
            if (j >= p.columns) {
                break;
            }
% if edges:
            if (lanes == 4) {
                ${function}_edge(given, j, x, ${arguments}b, y);
                continue;
            }
% endif
            ${function}_column(given, lanes, j, x, ${arguments}b, y);
        }
        for (int32_t n = 0; (first < last) && (n < p.batches); ++n) {
            for (int32_t i = 0; i < p.rows; ++i) {
                const int32_t top = (i * p.row_stride) - p.top;
                const tw_xp_rows rows = tw_xp_rows_inside(&p, top);
                uint8_t *to = y + (n * p.y_batch) + (i * p.y_row) + (first * p.y_column);
                for (int32_t j = first; j < last;) {
                    const int32_t left = (j * p.column_stride) - p.left;
                    const int32_t start = (n * p.x_batch) + (top * p.x_row) + (left * p.x_column);
                    int32_t acc[8] = {${first_sums}};
% if pair:
                    if ((j + 1) < last) {
                        ${function}_sums2(&p, rows, x, start, w, acc);
${finish(2, "p.", 4, "to")}\
                        to += 2 * p.y_column;
                        j += 2;
                        continue;
                    }
% endif
                    ${function}_sums1(&p, rows, x, start, ${"w, " if weighted else ""}acc);
${finish(1, "p.", 4, "to")}\
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
