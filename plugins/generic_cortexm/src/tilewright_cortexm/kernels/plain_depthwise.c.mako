<%doc>
Needs x_type, rows and columns (of the kernel), stored (words of a channel beside its bias), requantise (name of a function).
</%doc>\
<% more = "word1, word2" if stored == 3 else "above, zero_point" %>\
#include "depthwise.h"

/* The results of one pixel. Bytes of x to the next tap, and to the next row of taps. */
static void ${function}_pixel(int32_t channels, int32_t step, int32_t row, const ${x_type} *x, const int8_t *w,
        const int32_t *own, uint8_t *y, int32_t above, int32_t zero_point)
{
% if stored == 3:
    (void)above;
    (void)zero_point;
% endif
% if columns == 1:
    (void)step;
% endif
    for (int32_t c = 0; c < channels; ++c) {
        const ${x_type} *from = x + c;
        const int8_t *with = w + c;
        int32_t sum = own[0];
        for (int32_t kr = 0; kr < ${rows}; ++kr) {
            const ${x_type} *tap = from;
% for tap in range(columns):
            sum += *tap * *with;
            with += channels;
% if tap < columns - 1:
            tap += step;
% endif
% endfor
            from += row;
        }
% for number in range(stored):
        const int32_t word${number} = own[${number + 1}];
% endfor
        own += ${1 + stored};
        y[c] = ${requantise}(sum, word0, ${more});
    }
}

/* All taps of a window that reaches beyond x, one after the other. */
static void ${function}_gather(const tw_depthwise *p, int32_t row, int32_t column, const ${x_type} *x, ${x_type} *taps)
{
    for (int32_t kr = 0; kr < ${rows}; ++kr) {
        const int32_t within = (row >= 0) && (row < p->height);
        int32_t at = column;
        for (int32_t kc = 0; kc < ${columns}; ++kc) {
            if (within && (at >= 0) && (at < p->width)) {
                (void)memcpy(taps, x + (row * p->x_row) + (at * p->channels), (size_t)p->channels);
            } else {
                (void)memset(taps, p->pad, (size_t)p->channels);
            }
            taps += p->channels;
            at += p->column_dilation;
        }
        row += p->row_dilation;
    }
}

static void ${function}(const tw_depthwise p, const ${x_type} *x, const int8_t *w, const int32_t *parameters, uint8_t *y,
        ${x_type} *taps, int32_t above, int32_t zero_point)
{
    const int32_t last_row = p.height - (${rows - 1} * p.row_dilation);
    const int32_t last_column = p.width - (${columns - 1} * p.column_dilation);
    for (int32_t i = 0; i < p.out_height; ++i) {
        const int32_t row = (i * p.row_stride) - p.top;
        for (int32_t j = 0; j < p.out_width; ++j) {
            const int32_t column = (j * p.column_stride) - p.left;
            uint8_t *const to = y + (i * p.y_row) + (j * p.channels);
            if ((row >= 0) && (row < last_row) && (column >= 0) && (column < last_column)) {
                ${function}_pixel(p.channels, p.column_dilation * p.channels, p.row_dilation * p.x_row,
                    x + (row * p.x_row) + (column * p.channels), w, parameters, to, above, zero_point);
            } else {
                ${function}_gather(&p, row, column, x, taps);
                ${function}_pixel(p.channels, p.channels, ${columns} * p.channels, taps, w, parameters, to, above,
                    zero_point);
            }
        }
    }
}
