<%doc>
Needs what dsp_block.c needs, for the blocks in `blocks`, widen (see dsp_columns.c), group_words (words of a four of
values in all columns), direct (whether x itself is the column).
</%doc>\
#ifndef TW_DSP_PRODUCTS
#define TW_DSP_PRODUCTS
typedef struct { /* a convolution over a channels-last tensor; a matrix product is one of 1x1 */
    int32_t width, height, channels, x_step; /* of x; channels of one group, bytes between pixels */
    int32_t out_width, pixels, outputs, y_step; /* pixels: of one image of y */
    int32_t row_taps, column_runs, run_taps; /* kernel rows, runs of x in each, taps in a run */
    int32_t row_stride, column_stride, row_dilation, column_dilation, top, left;
    int32_t pad; /* value outside, in every byte */
    int32_t groups; /* fours of values in a run, rounded up */
    int32_t above, zero_point;
} tw_dsp_conv;
#endif
#ifndef TW_DSP_COLUMN_${widen.upper()}
#define TW_DSP_COLUMN_${widen.upper()}
/* One run at the edge of a row: taps outside read the padding value. */
static uint32_t *tw_dsp_edge_${widen}(const tw_dsp_conv *p, const uint8_t *row, int32_t column, uint32_t *to,
        int32_t apart, uint8_t *bytes)
{
    const int32_t first = column < 0 ? (-column < p->run_taps ? -column : p->run_taps) : 0;
    const int32_t room = p->width - column;
    const int32_t last = room < p->run_taps ? (room > first ? room : first) : p->run_taps;
    memset(bytes, p->pad, (size_t)(p->run_taps * p->channels));
    if (row && last > first) {
        memcpy(bytes + first * p->channels, row + (column + first) * p->x_step,
            (size_t)((last - first) * p->channels));
    }
    return tw_dsp_widen_${widen}(bytes, p->run_taps * p->channels, to, apart);
}

/* Everything that one pixel of y reads, widened. */
TW_KERNEL void tw_dsp_column_${widen}(const tw_dsp_conv *p, const uint8_t *x, int32_t pixel, uint32_t *to,
        int32_t apart, uint8_t *bytes)
{
    const int32_t i = pixel / p->out_width;
    const int32_t top = i * p->row_stride - p->top;
    const int32_t left = (pixel - i * p->out_width) * p->column_stride - p->left;
    for (int32_t k = 0; k < p->row_taps; ++k) {
        const int32_t line = top + k * p->row_dilation;
        const int32_t outside = line < 0 || line >= p->height;
        const uint8_t *const row = outside ? (const uint8_t *)0 : x + line * p->width * p->x_step;
        for (int32_t r = 0; r < p->column_runs; ++r) {
            const int32_t column = left + r * p->column_dilation;
            if (outside || column < 0 || column + p->run_taps > p->width) {
                to = tw_dsp_edge_${widen}(p, row, column, to, apart, bytes);
            } else {
                to = tw_dsp_widen_${widen}(row + column * p->x_step, p->run_taps * p->channels, to, apart);
            }
        }
    }
}
#endif

% for shape in blocks:
${block_of(**shape)}\
% endfor

/* Columns at a time: ${pixels}. The last ones again where they do not come out even. */
TW_KERNEL void ${function}(const tw_dsp_conv p, const uint8_t *x, const uint32_t *w, const int32_t *parameters,
        uint8_t *y, uint32_t *scratch)
{
    const int32_t words = p.row_taps * p.column_runs * p.groups * ${group_words};
    for (int32_t pixel = 0; pixel < p.pixels; pixel += ${pixels}) {
        const int32_t at = pixel <= p.pixels - ${pixels} ? pixel : p.pixels - ${pixels};
% if direct:
        const uint32_t *const columns = (const uint32_t *)(const void *)(x + at * p.x_step);
        (void)scratch;
% else:
        uint32_t *const columns = scratch;
        for (int32_t j = 0; j < ${pixels}; ++j) {
            tw_dsp_column_${widen}(&p, x, at + j, columns + 2 * j, ${group_words}, (uint8_t *)(columns + words));
        }
% endif
        tw_dsp_block b = {.columns = columns, .end = columns + words, .apart = p.y_step,
            .above = p.above, .zero_point = p.zero_point};
% for shape, (first, count) in zip(blocks, runs):
        b.w = w + ${first} * (p.row_taps * p.column_runs * p.groups);
        b.parameters = parameters + ${2 * first};
        b.y = y + at * p.y_step + ${first};
        b.blocks = ${count};
        ${shape["block"]}(&b);
% endfor
    }
}
