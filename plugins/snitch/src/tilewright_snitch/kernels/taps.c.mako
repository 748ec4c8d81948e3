<%doc>
Needs function, kind ("products", "sum", "max"), clip ("none", "low", "both"), widths, and of blocks: lines (of a width), marks,
zero, lowest (what maxima begin with), factor, limits, clobbered.
</%doc>\
<%
    marked = kind == "max" or clip != "none"
    weighted = kind == "products"
    given = "const float *w, const float *b, " if weighted else ""
%>\
/* Channels that are neighbours, of pixels in a row whose windows have the same taps inside. It has no floats: the
 * integer core would copy them before the float unit has stored them. Sums are multiplied by `factor`. */
typedef struct {
    int32_t pixels;
    int32_t channels;
    int32_t x_pixel;
    tw_sn_inside rows;
    tw_sn_inside columns;
} ${function}_run;

TW_KERNEL float ${function}_one(const tw_sn_windows *p, const ${function}_run *q, float start,
        float factor, float low, float high, const float *x${", const float *w" if weighted else ""})
{
% if kind != "sum":
    (void)factor;
% endif
% if clip == "none":
    (void)low;
% endif
% if clip != "both":
    (void)high;
% endif
    float value = start;
    for (int32_t r = q->rows.from; r < q->rows.to; ++r) {
        for (int32_t k = q->columns.from; k < q->columns.to; ++k) {
            const float seen = x[(r * p->row_dilation * p->x_row) + (k * p->column_dilation * p->x_column)];
% if kind == "products":
            value += seen * w[((r * p->column_taps) + k) * p->w_output];
% elif kind == "sum":
            value += seen;
% else:
            value = ((seen > value) || (seen != seen)) ? seen : value;
% endif
        }
    }
% if kind == "sum":
    value *= factor;
% endif
% if clip == "low":
    value = (value < low) ? low : value;
% elif clip == "both":
    value = (value < low) ? low : ((value > high) ? high : value);
% endif
    return value;
}

/* As every machine computes it. */
TW_KERNEL void ${function}_plain(const tw_sn_windows *p, const ${function}_run *q, float factor,
        float low, float high, const float *x, ${given}float *y)
{
    for (int32_t j = 0; j < q->pixels; ++j) {
        for (int32_t c = 0; c < q->channels; ++c) {
            y[(j * p->y_column) + c] = ${function}_one(p, q, ${"-INFINITY" if kind == "max" else "b[c]" if weighted else "0.0f"},
                    factor, low, high, x + ((j * q->x_pixel) + c)${", w + c" if weighted else ""});
        }
    }
}

#ifdef TW_SN_STREAMS
% for width in widths:
/* ${2 * width} channels at a time, `blocks` times. Returns 0, or NaN where maxima and minima would have lost one. */
TW_SN_APART float ${function}_${width}(const tw_sn_windows *p, const ${function}_run *q, int32_t blocks,
        float factor, float low, float high, const float *x, ${given}float *y)
{
% if kind != "sum":
    (void)factor;
% endif
% if clip == "none":
    (void)low;
% endif
% if clip != "both":
    (void)high;
% endif
    const uint32_t rows = (uint32_t)(q->rows.to - q->rows.from);
    const uint32_t columns = (uint32_t)(q->columns.to - q->columns.from);
    const uint32_t times = (rows * columns) - 1u;
    const int32_t pixels = q->pixels;
    const int32_t y_next = p->y_column;
    const tw_sn_walk seen = {{${width - 1}u, columns - 1u, rows - 1u, (uint32_t)q->pixels - 1u},
                             {8, p->column_dilation * p->x_column * 4, p->row_dilation * p->x_row * 4, q->x_pixel * 4}};
% if weighted:
    const tw_sn_walk weights = {{${width - 1}u, columns - 1u, rows - 1u, (uint32_t)q->pixels - 1u},
                                {8, p->w_output * 4, p->column_taps * p->w_output * 4, 0}};
% endif
% if kind == "sum":
    register double by __asm__("${factor}") = tw_sn_pair(factor);
% elif kind == "max":
    register double least __asm__("${lowest}") = tw_sn_pair(-INFINITY);
% endif
% if marked:
% for mark in marks:
    register double ${mark} __asm__("${mark}") = 0;
% endfor
% endif
% if clip != "none":
    register double ${zero} __asm__("${zero}") = 0;
    register double lowest __asm__("${limits[0]}") = tw_sn_pair(low);
% endif
% if clip == "both":
    register double highest __asm__("${limits[1]}") = tw_sn_pair(high);
% endif
    tw_sn_settle();
    TW_SN_WALK(0, seen, ${int(kind == "max")});
% if weighted:
    TW_SN_WALK(1, weights, 0);
% endif
    for (int32_t block = 0; block < blocks; ++block) {
        float *to = y + (block * ${2 * width});
        TW_SN_READ(0, x + (block * ${2 * width}));
% if weighted:
        TW_SN_READ(1, w + (block * ${2 * width}));
% endif
        tw_sn_on();
        for (int32_t j = 0; j < pixels; ++j) {
            __asm__ volatile(
% for line in lines(width):
                ${line}
% endfor
                : ${", ".join(f'"+f"({mark})' for mark in marks) if marked else ""}
                : [times] "r"(times), [y] "r"(to)${', [b] "r"(b + block * %d)' % (2 * width) if weighted else ""}\
${', "f"(by)' if kind == "sum" else ', "f"(least)' if kind == "max" else ""}\
${f', "f"({zero}), "f"(lowest)' if clip != "none" else ""}${', "f"(highest)' if clip == "both" else ""}
                : ${", ".join(f'"{one}"' for one in clobbered)}, "memory");
            to += y_next;
        }
        tw_sn_off();
    }
% if marked:
    return ${" + ".join(f"tw_sn_halves({mark})" for mark in marks)};
% else:
    return 0.0f;
% endif
}

% endfor
/* Whether streams can bring all of it, the first tap inside first. */
TW_KERNEL int ${function}_fits(const tw_sn_windows *p, const ${function}_run *q, const float *x, ${given}const float *y)
{
    const int32_t odd = (q->channels | p->x_row | p->x_column | p->w_output | p->y_column) & 1;
    const int32_t some = (q->rows.to > q->rows.from) && (q->columns.to > q->columns.from);
    return some && !odd && tw_sn_near(x)${" && tw_sn_near(w) && (uint32_t)(uintptr_t)b % 8u == 0u" if weighted else ""}
        && (uint32_t)(uintptr_t)y % 8u == 0u;
}
#endif

/* One run of pixels; what tap 0 reads is at x${" and w" if weighted else ""}. */
TW_SN_APART void ${function}_pixels(const tw_sn_windows *p, const ${function}_run *q, float factor,
        float low, float high, const float *x, ${given}float *y)
{
#ifdef TW_SN_STREAMS
    const float *const first = x + ((q->rows.from * p->row_dilation * p->x_row)
                                    + (q->columns.from * p->column_dilation * p->x_column));
% if weighted:
    const float *const weights = w + (((q->rows.from * p->column_taps) + q->columns.from) * p->w_output);
% endif
    if (${function}_fits(p, q, first, ${"weights, b, " if weighted else ""}y)) {
        float wild = 0.0f;
        int32_t c = 0;
% for width in widths:
        if ((q->channels - c) >= ${2 * width}) {
            const int32_t blocks = (q->channels - c) / ${2 * width};
            wild += ${function}_${width}(p, q, blocks, factor, low, high, first + c, ${"weights + c, b + c, " if weighted else ""}y + c);
            c += blocks * ${2 * width};
        }
% endfor
        if (wild == wild) {
            return;
        }
    }
#endif
    ${function}_plain(p, q, factor, low, high, x, ${"w, b, " if weighted else ""}y);
}

/* Windows over channels that are neighbours, each channel by itself: rows of pixels at once, those at the edges one by
 * one.${" Averages count positions before `row_end` and `column_end`, or taps inside where those are 0." if kind == "sum" else ""} */
TW_SN_APART void ${function}(const tw_sn_windows p, ${"int32_t row_end, int32_t column_end, " if kind == "sum" else ""}float low,
        float high, const float *x, ${given}float *y)
{
    const tw_sn_inside whole = tw_sn_columns(&p);
    ${function}_run q = {.channels = p.channels, .x_pixel = p.column_stride * p.x_column};
    for (int32_t n = 0; n < p.batches; ++n) {
        for (int32_t i = 0; i < p.rows; ++i) {
            const int32_t top = (i * p.row_stride) - p.top;
            const float *const xr = x + ((n * p.x_batch) + (top * p.x_row) - (p.left * p.x_column));
            q.rows = tw_sn_taps(top, p.row_taps, p.row_dilation, p.in_rows);
            for (int32_t j = 0; j < p.columns; j += q.pixels) {
                const int32_t left = (j * p.column_stride) - p.left;
                q.columns = tw_sn_taps(left, p.column_taps, p.column_dilation, p.in_columns);
                q.pixels = ((j == whole.from) && (whole.to > whole.from)) ? (whole.to - whole.from) : 1;
% if kind == "sum":
                const int32_t counted_rows = row_end
                    ? tw_sn_taps(top, p.row_taps, p.row_dilation, row_end).to : (q.rows.to - q.rows.from);
                const int32_t counted = counted_rows * (column_end
                    ? tw_sn_taps(left, p.column_taps, p.column_dilation, column_end).to : (q.columns.to - q.columns.from));
                const float factor = 1.0f / (float)((counted > 0) ? counted : 1);
% endif
                ${function}_pixels(&p, &q, ${"factor" if kind == "sum" else "1.0f"}, low, high, xr + (j * q.x_pixel), ${"w, b, " if weighted else ""}y + ((n * p.y_batch) + (i * p.y_row) + (j * p.y_column)));
            }
        }
    }
}
