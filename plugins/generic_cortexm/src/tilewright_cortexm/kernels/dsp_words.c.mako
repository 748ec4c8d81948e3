<%doc> Needs function, inline (whether blocks requantise themselves), blocks (first channel, how many blocks, channels in each, products), direct, wide, shifted, low, high,
stored (words of a channel), chunk (fours that 32 bits hold the sum of). </%doc>\
#include "dsp_words.h"

<%
    requantised = {
        (True, False): "tw_dsp_words_shifted(sums[c], &p[{stored} * c + {biases}], {low}, {high})",
        (True, True): "tw_dsp_words_shifted_wide(total, &p[{stored} * c + {biases}], {low}, {high})",
        (False, False): "tw_dsp_words_exact((float)sums[c], p[{stored} * c + {biases}], zero_point, {low}, {high})",
        (False, True): "tw_dsp_words_exact((float)total, p[{stored} * c + {biases}], zero_point, {low}, {high})",
    }[shifted, wide].format(stored=stored, biases=2 if wide else 1, low=low, high=high)
%>\
% for size, products in [] if inline else sorted({(size, products) for _, _, size, products in blocks}):
/* The results of ${size} channels of one pixel. */
TW_KERNEL void ${function}_${size}(const int16_t *x, const uint32_t *w, int32_t fours, const int32_t *p, int32_t zero_point,
        int16_t *y)
{
    int32_t sums[${size}];
% if wide:
    int64_t totals[${size}];
    for (int32_t c = 0; c < ${size}; ++c) {
        totals[c] = ((int64_t)p[(${stored} * c) + 1] * (INT64_C(1) << 32)) + (int64_t)(uint32_t)p[${stored} * c];
    }
    for (int32_t k = 0; k < fours; k += ${chunk}) {
        const int32_t some = ((fours - k) < ${chunk}) ? (fours - k) : ${chunk};
        memset(sums, 0, sizeof sums);
        ${products}(x + (4 * k), w + (${size} * k), some, sums);
        for (int32_t c = 0; c < ${size}; ++c) {
            totals[c] += sums[c];
        }
    }
% else:
    for (int32_t c = 0; c < ${size}; ++c) {
        sums[c] = p[${stored} * c];
    }
    ${products}(x, w, fours, sums);
% endif
    for (int32_t c = 0; c < ${size}; ++c) {
% if wide:
        const int64_t total = totals[c];
% endif
        y[c] = (int16_t)${requantised};
    }
    (void)zero_point;
}

% endfor
/* y = requant(b + sum of x * w) of one image; `column` has room for what one pixel reads. */
static void ${function}(const tw_dsp_words p, const int16_t *x, const uint32_t *w, const int32_t *parameters, int16_t *y,
        int16_t *column)
{
    for (int32_t pixel = 0; pixel < p.pixels; ++pixel) {
        const int32_t i = pixel / p.out_width;
        const int32_t j = pixel - (i * p.out_width);
        const uint32_t *v = w;
        const int32_t *q = parameters;
        int16_t *to = y + (i * p.y_row) + (j * p.y_step);
% if direct:
        const int16_t *const from = x + (i * p.row_stride * p.x_row) + (j * p.column_stride * p.x_step);
% else:
        const int16_t *const from = column;
        tw_dsp_words_column(&p, x, i, j, column);
% endif
% for _, count, size, block in blocks:
        for (int32_t n = 0; n < ${count}; ++n) {
% if not inline:
            ${function}_${size}(from, v, p.fours, q, p.zero_point, to);
% elif direct:
            if (((uintptr_t)from & 3) == 0) {
                ${block}_aligned(from, v, p.fours, q, to, p.zero_point);
            } else {
                ${block}_any(from, v, p.fours, q, to, p.zero_point);
            }
% else:
            ${block}_aligned(from, v, p.fours, q, to, p.zero_point);
% endif
            v += ${size} * p.fours;
            q += ${stored * size};
            to += ${size};
        }
% endfor
    }
    (void)column;
}
