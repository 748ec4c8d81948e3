<%doc> Needs function, rows and columns (of the kernel), step (elements of x between taps of a row), shifted, low, high,
stored (words of a channel), written (whether places of taps fit instructions), padded (whether taps outside count for more than 0), sides (ranges of columns whose taps are inside x, written out). </%doc>\
#include "depthwise.h"
#include "dsp_halves.h"
#include "dsp_words.h"

<%
    taps = rows * columns
    if shifted:
        requantised = "tw_dsp_words_shifted({sum}, &q[{stored} * {c} + 1], {low}, {high})"
    else:
        requantised = "tw_dsp_words_exact((float){sum}, q[{stored} * {c} + 1], zero_point, {low}, {high})"
    result = lambda c: requantised.format(sum=f"sum{c}", c=c, stored=stored, low=low, high=high)
%>\
<%def name="written_row(first, last, at)">\
            __asm__ volatile(
% for j in range(first, last):
                "ldr %4, [%8, #${2 * j * step}]\n\t"
                "ldr %5, [%8, #${2 * j * step + 4}]\n\t"
                "ldrd %6, %7, [%9, #${8 * (at + j)}]\n\t"
                "smlabb %0, %4, %6, %0\n\t"
                "smlatt %1, %4, %6, %1\n\t"
                "smlabb %2, %5, %7, %2\n\t"
                "smlatt %3, %5, %7, %3\n\t"
% endfor
                : "+&r"(sum0), "+&r"(sum1), "+&r"(sum2), "+&r"(sum3), "=&r"(low), "=&r"(high), "=&r"(w), "=&r"(v)
                : "r"(row), "r"(taps) : "memory");
</%def>\
/* Four channels of `count` neighbours whose taps are all inside x, and whose x are so many elements apart. */
TW_DSP_APART void ${function}_inside(const tw_depthwise *p, const int16_t *x, const uint32_t *taps, const int32_t *q,
        int16_t *y, int32_t zero_point, int32_t count, int32_t apart)
{
% if rows > 1:
    const int32_t next_row = p->row_dilation * p->x_row;
% endif
    const int32_t y_apart = p->channels;
    for (; count > 0; --count) {
        const int16_t *${"" if rows > 1 else "const "}row = x;
% for c in range(4):
        int32_t sum${c} = q[${stored * c}];
% endfor
% for i in range(rows):
% if written:
#if defined(TW_DSP_ARM) && defined(__ARM_FEATURE_UNALIGNED)
        {
            uint32_t low;
            uint32_t high;
            uint32_t w;
            uint32_t v;
${written_row(0, columns, i * columns)}\
        }
#else
% endif
        for (int32_t j = 0; j < ${columns}; ++j) {
            const uint32_t low = tw_dsp_load(row + (j * ${step}));
            const uint32_t high = tw_dsp_load(row + (j * ${step}) + 2);
            const uint32_t *const w = taps + (2 * (${i * columns} + j));
            sum0 = tw_dsp_mlabb(low, w[0], sum0);
            sum1 = tw_dsp_mlatt(low, w[0], sum1);
            sum2 = tw_dsp_mlabb(high, w[1], sum2);
            sum3 = tw_dsp_mlatt(high, w[1], sum3);
        }
% if written:
#endif
% endif
% if i + 1 < rows:
        row += next_row;
% endif
% endfor
% for c in range(4):
        y[${c}] = (int16_t)${result(c)};
% endfor
        x += apart;
        y += y_apart;
    }
    (void)zero_point;
}

% if written and not padded and sides:
#if defined(TW_DSP_ARM) && defined(__ARM_FEATURE_UNALIGNED)
% for first, last in sides:
/* Four channels of a pixel, of whose taps columns ${first} to ${last - 1} are inside x, and these rows. */
TW_DSP_APART void ${function}_side_${first}_${last}(const tw_depthwise *p, const int16_t *x, const uint32_t *taps,
        const int32_t *q, int16_t *y, int32_t zero_point, int32_t first_row, int32_t last_row)
{
    const int32_t next_row = p->row_dilation * p->x_row;
    const int16_t *row = x + (first_row * next_row);
% for c in range(4):
    int32_t sum${c} = q[${stored * c}];
% endfor
    taps += ${2 * columns} * first_row;
    for (int32_t i = first_row; i < last_row; ++i) {
        uint32_t low;
        uint32_t high;
        uint32_t w;
        uint32_t v;
${written_row(first, last, 0)}\
        row += next_row;
        taps += ${2 * columns};
    }
% for c in range(4):
    y[${c}] = (int16_t)${result(c)};
% endfor
    (void)zero_point;
}

% endfor
#endif
% endif
/* Four channels of a pixel; `first` to `last` are the taps inside x, of each axis. Weights are pairs of halves. */
TW_DSP_APART void ${function}_edge(const tw_depthwise *p, const int16_t *x, const uint32_t *taps, const int32_t *q,
        int16_t *y, int32_t zero_point, int32_t first_row, int32_t last_row, int32_t first_column, int32_t last_column)
{
% for c in range(4):
    int32_t sum${c} = q[${stored * c}];
% endfor
% if padded:
    const uint32_t pad = ((uint32_t)p->pad & 65535) * UINT32_C(0x00010001);
    for (int32_t i = 0; i < ${rows}; ++i) {
        const int32_t within = (i >= first_row) && (i < last_row);
        const int16_t *const row = within ? (x + (i * p->row_dilation * p->x_row)) : x;
        for (int32_t j = 0; j < ${columns}; ++j) {
            const int32_t inside = within && (j >= first_column) && (j < last_column);
            const uint32_t low = inside ? tw_dsp_load(row + (j * ${step})) : pad;
            const uint32_t high = inside ? tw_dsp_load(row + (j * ${step}) + 2) : pad;
            const uint32_t *const w = taps + (2 * ((i * ${columns}) + j));
% else:
    for (int32_t i = first_row; i < last_row; ++i) {
        const int16_t *row = x + (i * p->row_dilation * p->x_row) + (first_column * ${step});
        const uint32_t *w = taps + (2 * ((i * ${columns}) + first_column));
        for (int32_t j = first_column; j < last_column; ++j) {
            const uint32_t low = tw_dsp_load(row);
            const uint32_t high = tw_dsp_load(row + 2);
% endif
            sum0 = tw_dsp_mlabb(low, w[0], sum0);
            sum1 = tw_dsp_mlatt(low, w[0], sum1);
            sum2 = tw_dsp_mlabb(high, w[1], sum2);
            sum3 = tw_dsp_mlatt(high, w[1], sum3);
% if not padded:
            row += ${step};
            w += 2;
% endif
        }
    }
% for c in range(4):
    y[${c}] = (int16_t)${result(c)};
% endfor
    (void)zero_point;
}

/* How many taps of one axis, the first at `start`, are before `extent`. */
TW_KERNEL int32_t ${function}_before(int32_t start, int32_t dilation, int32_t extent, int32_t taps)
{
    const int32_t room = extent - start;
    const int32_t count = (room > 0) ? ((dilation == 1) ? room : (((room - 1) / dilation) + 1)) : 0;
    return (count < taps) ? count : taps;
}

/* Four channels at a time; the last four again where channels do not come out even. */
static void ${function}(const tw_depthwise p, const int16_t *x, const uint32_t *w, const int32_t *parameters, int16_t *y,
        uint32_t *taps, int32_t zero_point)
{
    for (int32_t group = 0; group < p.channels; group += 4) {
        const int32_t c = ((group + 4) <= p.channels) ? group : (p.channels - 4);
        for (int32_t tap = 0; tap < ${taps}; ++tap) {
            taps[2 * tap] = tw_dsp_even_i8(w[tap]);
            taps[(2 * tap) + 1] = tw_dsp_odd_i8(w[tap]);
        }
        w += ${taps};
        for (int32_t i = 0; i < p.out_height; ++i) {
            const int32_t top = (i * p.row_stride) - p.top;
            const int32_t first_row = ${function}_before(top, p.row_dilation, 0, ${rows});
            const int32_t last_row = ${function}_before(top, p.row_dilation, p.height, ${rows});
            const int16_t *const row = x + (top * p.x_row) + c;
            const int32_t *const q = parameters + (${stored} * c);
            int16_t *to = y + (i * p.y_row) + c;
            int32_t left = -p.left;
            for (int32_t j = 0; j < p.out_width;) {
                const int32_t room = p.width - left - (${columns - 1} * p.column_dilation); /* to where no tap is outside */
                if ((left >= 0) && (room > 0) && (first_row == 0) && (last_row == ${rows})) {
                    const int32_t fitting = (room + p.column_stride - 1) / p.column_stride;
                    const int32_t count = (fitting < (p.out_width - j)) ? fitting : (p.out_width - j);
                    ${function}_inside(&p, row + (left * p.channels), taps, q, to, zero_point, count,
                        p.column_stride * p.channels);
                    j += count;
                    left += count * p.column_stride;
                    to += count * p.channels;
                    continue;
                }
                const int32_t first = ${function}_before(left, p.column_dilation, 0, ${columns});
                const int32_t last = ${function}_before(left, p.column_dilation, p.width, ${columns});
% if written and not padded and sides:
#if defined(TW_DSP_ARM) && defined(__ARM_FEATURE_UNALIGNED)
% for first, last in sides:
                if ((first == ${first}) && (last == ${last})) {
                    ${function}_side_${first}_${last}(&p, row + (left * p.channels), taps, q, to, zero_point, first_row,
                        last_row);
                } else
% endfor
#endif
% endif
                {
                    ${function}_edge(&p, row + (left * p.channels), taps, q, to, zero_point, first_row, last_row, first,
                        last);
                }
                ++j;
                left += p.column_stride;
                to += p.channels;
            }
        }
    }
}
