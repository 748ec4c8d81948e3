<%doc>
Needs function, kind (see dot.c), limit (see finish.c), direct (windows are read where they are; else copied to columns),
edges (taps may lie outside, or apart from each other), runs (of a window, at most), part (of the products: see parts.c).
</%doc>\
#include "windows.h"

<%
    pixel = "tw_xp_part_pixel" if part else "tw_xp_pixel"
    parts, with_parts = ("const tw_xp_part *part, ", "&part, ") if part else ("", "")
%>\
% if not direct:
/* A window as one run of bytes, what lies outside filled with padding. */
TW_KERNEL void ${function}_column(const tw_xp_windows *p, const ${pixel} *at, const uint8_t *x, uint8_t *to)
{
    const int32_t run = p->column_taps * p->channels;
    const uint32_t all = (UINT32_C(2) << (p->column_taps - 1)) - 1;
    for (int32_t kr = 0; kr < p->row_taps; ++kr) {
        const int32_t row = at->x + (kr * p->row_dilation * p->x_row);
% if edges:
        const uint32_t inside = ((at->rows >> kr) & 1) ? at->columns : 0;
% else:
        const uint32_t inside = all;
% endif
        if (p->joined && (inside == all)) {
            tw_xp_copy(to, x + row, run);
            to += run;
            continue;
        }
% if edges:
        if (inside == 0) {
            tw_xp_fill(to, (uint8_t)p->padding, run);
            to += run;
            continue;
        }
% endif
        for (int32_t kc = 0; kc < p->column_taps; ++kc) {
            if ((inside >> kc) & 1) {
                tw_xp_copy(to, x + (row + (kc * p->column_dilation * p->x_column)), p->channels);
            } else {
                tw_xp_fill(to, (uint8_t)p->padding, p->channels);
            }
            to += p->channels;
        }
    }
}

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
TW_KERNEL void ${function}_pixels(const tw_xp_windows *p, ${parts}int32_t pixels, const ${pixel} *at, const uint8_t *x,
        const uint8_t *w, const int32_t *b, ${"uint8_t *columns" if not direct else "const uint8_t *pad"})
{
    const uint8_t *runs[${2 * runs + 2}];
% if not direct:
    const int32_t count = 1;
    const int32_t words = p->column / 4;
    for (int32_t i = 0; i < pixels; ++i) {
        ${function}_column(p, at + i, x, columns + (i * p->column));
        runs[i] = columns + (i * p->column);
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
    const int32_t gap = part->w_tap - (4 * p->channels); /* between the weights of two taps */
% endif
    for (int32_t o = 0; o < p->outputs; o += 4) {
        int32_t acc[8] = {b[0], b[1], b[2], b[3], b[0], b[1], b[2], b[3]};
% if part:
        if (!part->first) {
            tw_xp_resume(pixels, p->outputs - o, at[0].acc + o, at[pixels - 1].acc + o, acc);
        }
% endif
        if (pixels == 2) {
            tw_xp_dot2_${kind}${"_apart" if part else ""}(count, runs, words, w, ${"gap, " if part else ""}acc);
        } else {
            tw_xp_dot1_${kind}${"_apart" if part else ""}(count, runs, words, w, ${"gap, " if part else ""}acc);
        }
% if part:
        if (!part->last) {
            tw_xp_keep(pixels, p->outputs - o, acc, at[0].acc + o, at[pixels - 1].acc + o);
        } else {
            tw_xp_finish_${limit}(pixels, acc, b, p->outputs - o, p->to, at[0].y + o, at[pixels - 1].y + o);
        }
% else:
        tw_xp_finish_${limit}(pixels, acc, b, p->outputs - o, p->to, at[0].y + o, at[pixels - 1].y + o);
% endif
        b += 8;
        w += ${"part->w_block" if part else "4 * p->column"};
    }
}

<%
    last = "columns" if not direct else "pad"
%>\
TW_KERNEL void ${function}(const tw_xp_windows p, \
${"const tw_xp_part part, int32_t *acc, " if part else ""}const uint8_t *x, const uint8_t *w, const int32_t *b, uint8_t *y,
        ${"uint8_t *columns" if not direct else "const uint8_t *pad"})
{
    ${pixel} at[2];
    int32_t held = 0;
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
                    ${function}_pixels(&p, ${with_parts}2, at, x, w, b, ${last});
                    held = 0;
                }
            }
        }
    }
    if (held) {
        ${function}_pixels(&p, ${with_parts}1, at, x, w, b, ${last});
    }
}
