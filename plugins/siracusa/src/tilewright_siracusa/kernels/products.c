<%doc>
Needs function, kind (see dot.c), limit (see finish.c), direct (windows are read where they are; else copied to columns), padded.
</%doc>\
#ifndef TW_XP_PIXEL
#define TW_XP_PIXEL
/* One output pixel: its window's first tap, and which taps lie inside, one bit for each. */
typedef struct {
    int32_t x; /* bytes from the first element of the tile */
    uint32_t rows, columns;
    uint8_t *y;
} tw_xp_pixel;
#endif

#ifndef ${function.upper()}
#define ${function.upper()}
% if direct:
/* Sums of `pixels` windows, 1 or 2, with four channels. `whole`: no tap lies outside. */
TW_KERNEL void ${function}_sums(const tw_xp_windows *p, int32_t pixels, int32_t whole, const tw_xp_pixel *at,
        const uint8_t *x, const uint8_t *w, int32_t *acc)
{
    const int32_t row = p->row_dilation * p->x_row, column = p->column_dilation * p->x_column;
    if (whole && p->joined) {
        const int32_t words = p->column_taps * p->channels / 4;
        for (int32_t kr = 0; kr < p->row_taps; ++kr) {
            const uint8_t *const x0 = x + (at[0].x + kr * row);
            w = pixels == 2 ? tw_xp_dot2_${kind}(words, x0, 4, x + (at[1].x + kr * row), 4, w, acc)
                            : tw_xp_dot1_${kind}(words, x0, 4, w, acc);
        }
        return;
    }
    const uint32_t padding = p->padding;
    const uint8_t *const pad = (const uint8_t *)&padding;
    for (int32_t kr = 0; kr < p->row_taps; ++kr) {
        for (int32_t kc = 0; kc < p->column_taps; ++kc) {
            const int32_t tap = kr * row + kc * column, words = p->channels / 4;
            const int32_t in0 = whole || (at[0].rows >> kr & at[0].columns >> kc & 1);
            const uint8_t *const x0 = in0 ? x + (at[0].x + tap) : pad;
            if (pixels == 2) {
                const int32_t in1 = whole || (at[1].rows >> kr & at[1].columns >> kc & 1);
                w = tw_xp_dot2_${kind}(words, x0, 4 * in0, in1 ? x + (at[1].x + tap) : pad, 4 * in1, w, acc);
            } else {
                w = tw_xp_dot1_${kind}(words, x0, 4 * in0, w, acc);
            }
        }
    }
}
% else:
/* A window as one run of bytes, what lies outside filled with padding. */
TW_KERNEL void ${function}_column(const tw_xp_windows *p, const tw_xp_pixel *at, const uint8_t *x, uint8_t *to)
{
    const int32_t run = p->column_taps * p->channels;
    const uint32_t all = (UINT32_C(2) << (p->column_taps - 1)) - 1;
    for (int32_t kr = 0; kr < p->row_taps; ++kr) {
        const int32_t row = at->x + kr * p->row_dilation * p->x_row;
% if padded:
        const uint32_t inside = at->rows >> kr & 1 ? at->columns : 0;
% else:
        const uint32_t inside = all;
% endif
        if (p->joined && inside == all) {
            tw_xp_copy(to, x + row, run);
            to += run;
            continue;
        }
        for (int32_t kc = 0; kc < p->column_taps; ++kc, to += p->channels) {
            if (inside >> kc & 1) {
                tw_xp_copy(to, x + (row + kc * p->column_dilation * p->x_column), p->channels);
            } else {
                tw_xp_fill(to, (uint8_t)p->padding, p->channels);
            }
        }
    }
}
% endif

/* Every channel of `pixels` pixels, 1 or 2. */
TW_KERNEL void ${function}_pixels(const tw_xp_windows *p, int32_t pixels, const tw_xp_pixel *at, const uint8_t *x,
        const uint8_t *w, const int32_t *b, uint8_t *columns)
{
% if direct and padded:
    const uint32_t rows = (UINT32_C(2) << (p->row_taps - 1)) - 1, taps = (UINT32_C(2) << (p->column_taps - 1)) - 1;
    const int32_t whole = at[0].rows == rows && at[0].columns == taps
        && (pixels == 1 || (at[1].rows == rows && at[1].columns == taps));
% elif not direct:
    for (int32_t i = 0; i < pixels; ++i) {
        ${function}_column(p, at + i, x, columns + i * p->column);
    }
% endif
    for (int32_t o = 0; o < p->outputs; o += 4, b += 8, w += 4 * p->column) {
        int32_t acc[8] = {b[0], b[1], b[2], b[3], b[0], b[1], b[2], b[3]};
% if direct:
        ${function}_sums(p, pixels, ${"whole" if padded else "1"}, at, x, w, acc);
% else:
        if (pixels == 2) {
            tw_xp_dot2_${kind}(p->column / 4, columns, 4, columns + p->column, 4, w, acc);
        } else {
            tw_xp_dot1_${kind}(p->column / 4, columns, 4, w, acc);
        }
% endif
        tw_xp_finish_${limit}(pixels, acc, b, p->outputs - o, p->to, at[0].y + o, at[1].y + o);
    }
% if direct:
    (void)columns;
% endif
}

TW_KERNEL void ${function}(const tw_xp_windows p, const uint8_t *x, const uint8_t *w, const int32_t *b, uint8_t *y,
        uint8_t *columns)
{
    tw_xp_pixel at[2];
    int32_t held = 0;
    for (int32_t n = 0; n < p.batches; ++n) {
        for (int32_t i = 0; i < p.rows; ++i) {
            const int32_t top = i * p.row_stride - p.top;
% if padded:
            const uint32_t rows = tw_xp_inside(top, p.row_taps, p.row_dilation, p.in_rows);
% endif
            for (int32_t j = 0; j < p.columns; ++j) {
                const int32_t left = j * p.column_stride - p.left;
                at[held].x = n * p.x_batch + top * p.x_row + left * p.x_column;
                at[held].y = y + n * p.y_batch + i * p.y_row + j * p.y_column;
% if padded:
                at[held].rows = rows;
                at[held].columns = tw_xp_inside(left, p.column_taps, p.column_dilation, p.in_columns);
% else:
                at[held].rows = at[held].columns = 0;
% endif
                held += 1;
                if (held == 2) {
                    ${function}_pixels(&p, 2, at, x, w, b, columns);
                    held = 0;
                }
            }
        }
    }
    if (held) {
        ${function}_pixels(&p, 1, at, x, w, b, columns);
    }
}
#endif
