<%doc>
Needs function, kind (see dot.c), limit (see finish.c), direct (windows are read where they are; else from copied strips of
`strip_bytes` with `most` windows of a column, `run` bytes of each row, `pitch` apart), edges (taps may lie outside, or apart from each other), runs (of a window, at most), part (of the products: see parts.c), nibbles (see dot.c; kind "hh" for values of 16 bits), summed (name of what
finishes and adds, see finish_sum.c; "" where nothing is added).
</%doc>\
#include "windows.h"

<%
    pixel = "tw_xp_part_pixel" if part else "tw_xp_sum_pixel" if summed else "tw_xp_pixel"
    halves = kind == "hh"
    shared = nibbles or halves
    each = 2 if shared else 4
    out = "(2 * o)" if halves else "o"
    taken_apart = "tw_xp_words_apart" if halves else "tw_xp_channels_apart"
    parts, with_parts = ("const tw_xp_part *part, ", "&part, ") if part else ("", "")
    if summed:
        parts, with_parts = "const tw_xp_sum *sum, ", "&more.sum, "
%>\
% if not direct:
<% words, rest = divmod(run, 4) %>\
<%def name="copied(count)">\
    for (int32_t i = ${count}; i > 0; --i) {
% if words > 8:
            tw_xp_copy(to, from, ${run});
% else:
% for word in range(words):
            const uint32_t word${word} = tw_xp_load(from + ${4 * word});
% endfor
% if words and rest:
            const uint32_t last = tw_xp_load(from + ${run - 4});
% endif
% for word in range(words):
            tw_xp_store(to + ${4 * word}, word${word});
% endfor
% if words and rest:
            tw_xp_store(to + ${run - 4}, last);
% elif rest:
            tw_xp_copy(to, from, ${run});
% endif
% endif
            to += ${pitch};
            from += step;
        }
</%def>\
<% what = f"What `count` windows of a column read of the rows: {run} bytes of each, {pitch} apart" %>\
% if edges:
/* Fills so many bytes, and up to three behind them. */
TW_KERNEL void ${function}_fill(uint8_t *to, uint32_t padding, int32_t bytes)
{
    for (; bytes > 0; bytes -= 4) {
        tw_xp_store(to, padding);
        to += 4;
    }
}

/* ${what}, padding where they lie outside. */
TW_XP_APART void ${function}_strip(const tw_xp_windows *p, int32_t top, int32_t left, int32_t count, const uint8_t *x, uint8_t *to)
{
    const int32_t step = p->row_dilation * p->x_row;
    const int32_t above = tw_xp_taps_before(top, count, p->row_dilation, 0);
    const int32_t inside = tw_xp_taps_before(top, count, p->row_dilation, p->in_rows) - above;
    const int32_t first = tw_xp_taps_before(left, p->column_taps, p->column_dilation, 0);
    const int32_t taps = tw_xp_taps_inside(left, p->column_taps, p->column_dilation, p->in_columns);
    const uint8_t *from = x + (((top + (above * p->row_dilation)) * p->x_row) + ((left + (first * p->column_dilation)) * p->x_column));
    ${function}_fill(to, p->padding, above * ${pitch});
    to += above * ${pitch};
    const int32_t below = (count - above - inside) * ${pitch};
    if (p->joined && (taps == p->column_taps)) {
${copied("inside")}\
        ${function}_fill(to, p->padding, below);
        return;
    }
    const int32_t pieces = p->joined ? 1 : taps;
    const int32_t bytes = p->joined ? (taps * p->channels) : p->channels;
    for (int32_t i = inside; i > 0; --i) {
        uint8_t *at = to + (first * p->channels);
        ${function}_fill(to, p->padding, first * p->channels);
        for (int32_t j = 0; j < pieces; ++j) {
            tw_xp_copy(at, from + (j * p->column_dilation * p->x_column), bytes);
            at += bytes;
        }
        to += ${pitch};
        ${function}_fill(at, p->padding, (int32_t)(to - at));
        from += step;
    }
    ${function}_fill(to, p->padding, below);
}

% else:
/* ${what}. */
TW_KERNEL void ${function}_strip(const tw_xp_windows *p, int32_t top, int32_t left, int32_t count, const uint8_t *x, uint8_t *to)
{
    const int32_t step = p->row_dilation * p->x_row;
    const uint8_t *from = x + ((top * p->x_row) + (left * p->x_column));
${copied("count")}\
}

% endif
% elif edges:
/* Where the taps of `pixels` windows begin, 1 or 2, row by row: those outside at `pad`. */
TW_XP_APART void ${function}_taps(tw_xp_taps taps, int32_t pixels, const ${pixel} *at, const uint8_t *x,
        const uint8_t *pad, const uint8_t **runs)
{
    for (int32_t i = 0; i < pixels; ++i) {
        const uint8_t **run = runs + i;
        uint32_t rows = at->rows;
        int32_t first = at->x;
        for (int32_t kr = taps.rows; kr > 0; --kr) {
            uint32_t inside = (rows & 1) ? at->columns : 0;
            int32_t tap = first;
            for (int32_t kc = taps.columns; kc > 0; --kc) {
                *run = (inside & 1) ? (x + tap) : pad;
                inside >>= 1;
                tap += taps.column;
                run += pixels;
            }
            rows >>= 1;
            first += taps.row;
        }
        ++at;
    }
}

% endif
/* Every channel of `pixels` pixels, 1 or 2. */
TW_KERNEL void ${function}_pixels(const tw_xp_windows *p, ${parts}int32_t pixels, const ${pixel} *at, \
${"const uint8_t *x, " if direct else ""}const uint8_t *w, const int32_t *b,
        const uint8_t *${"pad" if direct else "columns"})
{
    const uint8_t *runs[${2 * runs + 2}];
% if not direct:
    const int32_t count = 1;
    const int32_t words = p->column / 4;
    for (int32_t i = 0; i < pixels; ++i) {
        runs[i] = columns + at[i].x;
    }
% else:
    const int32_t row = p->row_dilation * p->x_row;
    int32_t count = p->row_taps;
    int32_t words = p->column_taps * p->channels / 4;
% if edges:
    const uint32_t all = (UINT32_C(2) << (p->column_taps - 1)) - 1;
    const uint32_t all_rows = (UINT32_C(2) << (p->row_taps - 1)) - 1;
    const uint32_t columns = at[0].columns & at[pixels - 1].columns;
    const uint32_t rows = at[0].rows & at[pixels - 1].rows;
    if (!p->joined || (columns != all)) {
        count *= p->column_taps;
        words = p->channels / 4;
        const tw_xp_taps taps = {p->row_taps, p->column_taps, row, p->column_dilation * p->x_column};
        ${function}_taps(taps, pixels, at, x, pad, runs);
    } else if (rows != all_rows) {
        const tw_xp_taps taps = {p->row_taps, 1, row, 0};
        ${function}_taps(taps, pixels, at, x, pad, runs);
    } else
% else:
    (void)pad;
% endif
    for (int32_t kr = 0; kr < p->row_taps; ++kr) {
        runs[kr * pixels] = x + (at[0].x + (kr * row));
        runs[(kr * pixels) + pixels - 1] = x + (at[pixels - 1].x + (kr * row));
    }
% endif
% if part:
    const int32_t gap = part->w_tap - (${each} * p->channels); /* between the weights of two taps */
% endif
% if shared:
    int32_t totals[2] = {0, 0};
    if (pixels == 2) {
        tw_xp_totals2_${kind}(count, runs, words, totals);
    } else {
        tw_xp_totals1_${kind}(count, runs, words, totals);
    }
% endif
    for (int32_t o = 0; o < p->outputs; o += 4) {
        int32_t acc[8] = {b[0], b[1], b[2], b[3], b[0], b[1], b[2], b[3]};
% if part:
        if (!part->first) {
            tw_xp_resume(pixels, p->outputs - o, at[0].acc + o, at[pixels - 1].acc + o, acc);
        }
% endif
        if (pixels == 2) {
            tw_xp_dot2_${kind}${"_nibbles" if nibbles else ""}${"_apart" if part else ""}(count, runs, words, w, ${"gap, " if part else ""}acc);
        } else {
            tw_xp_dot1_${kind}${"_nibbles" if nibbles else ""}${"_apart" if part else ""}(count, runs, words, w, ${"gap, " if part else ""}acc);
        }
% if shared:
        ${taken_apart}(pixels, ${"part->last" if part else 1}, totals, acc);
% endif
% if part:
        if (!part->last) {
            tw_xp_keep(pixels, p->outputs - o, acc, at[0].acc + o, at[pixels - 1].acc + o);
        } else {
            tw_xp_finish_${limit}(pixels, acc, b, p->outputs - o, p->to, at[0].y + ${out}, at[pixels - 1].y + ${out});
        }
% elif summed:
        ${summed}(pixels, acc, b, p->outputs - o, p->to, sum, at[0].more + o, at[pixels - 1].more + o, at[0].y + o,
            at[pixels - 1].y + o);
% else:
        tw_xp_finish_${limit}(pixels, acc, b, p->outputs - o, p->to, at[0].y + ${out}, at[pixels - 1].y + ${out});
% endif
        b += 8;
        w += ${"part->w_block" if part else f"{each} * p->column"};
    }
}

<%
    given = "x, w, b, pad" if direct else "w, b, columns"
%>\
TW_KERNEL void ${function}(const tw_xp_windows p, \
${"const tw_xp_part part, int32_t *acc, " if part else "const tw_xp_more more, " if summed else ""}const uint8_t *x, const uint8_t *w, const int32_t *b, uint8_t *y,
        ${"uint8_t *columns" if not direct else "const uint8_t *pad"})
{
    ${pixel} at[2];
    int32_t held = 0;
% if not direct:
% if edges:
    const tw_xp_windows apart = p; /* p itself stays what the compiler knows */
% endif
    int32_t strip = 0; /* the other one holds what is not computed yet */
    for (int32_t n = 0; n < p.batches; ++n) {
        for (int32_t j = 0; j < p.columns; ++j) {
            for (int32_t first = 0; first < p.rows; first += ${most}) {
                const int32_t some = ((p.rows - first) < ${most}) ? (p.rows - first) : ${most};
                ${function}_strip(&${"apart" if edges else "p"}, (first * p.row_stride) - p.top, (j * p.column_stride) - p.left,
                    ((some - 1) * p.row_stride) + p.row_taps, x + (n * p.x_batch), columns + strip);
                for (int32_t i = 0; i < some; ++i) {
                    at[held].x = strip + (i * p.row_stride * ${pitch});
                    at[held].rows = at[held].columns = 0;
                    at[held].y = y + (n * p.y_batch) + ((first + i) * p.y_row) + (j * p.y_column);
                    held += 1;
                    if (held == 2) {
                        ${function}_pixels(&p, 2, at, ${given});
                        held = 0;
                    }
                }
                strip = ${strip_bytes} - strip;
            }
        }
    }
% else:
    for (int32_t n = 0; n < p.batches; ++n) {
        for (int32_t j = 0; j < p.columns; ++j) { /* pixels of a column make pairs: few reach beside the image */
            const int32_t left = (j * p.column_stride) - p.left;
% if edges:
            const uint32_t beside = tw_xp_inside(left, p.column_taps, p.column_dilation, p.in_columns);
% endif
            for (int32_t i = 0; i < p.rows; ++i) {
                const int32_t top = (i * p.row_stride) - p.top;
                at[held].x = (n * p.x_batch) + (top * p.x_row) + (left * p.x_column);
                at[held].y = y + (n * p.y_batch) + (i * p.y_row) + (j * p.y_column);
% if summed:
                at[held].more = more.values + ((n * more.batch) + (i * more.row) + (j * more.column));
% endif
% if part:
                at[held].acc = acc + (n * part.acc_batch) + (i * part.acc_row) + (j * part.acc_column);
% endif
% if edges:
                at[held].rows = tw_xp_inside(top, p.row_taps, p.row_dilation, p.in_rows);
                at[held].columns = beside;
% else:
                at[held].rows = at[held].columns = 0;
% endif
                held += 1;
                if (held == 2) {
                    ${function}_pixels(&p, ${with_parts}2, at, ${given});
                    held = 0;
                }
            }
        }
    }
% endif
    if (held) {
        ${function}_pixels(&p, ${with_parts}1, at, ${given});
    }
}
