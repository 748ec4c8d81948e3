<%doc>
Needs function and block (names of functions), requantise (name of a function), unroll, x_type, w_type, offset (what weights
are more than they count for), edges (whether windows reach beyond x), stored (words of a channel beside its bias).
</%doc>\
<% more = "word1, word2" if stored == 3 else "p->above, p->zero_point" %>\
#include "assembler.h"
#include "dsp_conv.h"
#include "prelude.h"

/* Adds to four sums what values make of the weights beside each other. Returns the weights behind these. */
static const ${w_type} *${function}_run(const ${x_type} *x, int32_t count, const ${w_type} *w, uint32_t *sums)
{
    const ${x_type} *const end = x + count;
    const int32_t whole = count & ~(int32_t)${unroll - 1};
    if (whole > 0) {
        ${block}(x, w, sums, x + whole);
        w += 4 * whole;
    }
    for (x += whole; x < end; ++x) {
        const int32_t value = *x;
        sums[0] += (uint32_t)(value * w[0]);
        sums[1] += (uint32_t)(value * w[1]);
        sums[2] += (uint32_t)(value * w[2]);
        sums[3] += (uint32_t)(value * w[3]);
        w += 4;
    }
    return w;
}

% if edges:
/* The same of values outside of x. */
static const ${w_type} *${function}_outside(int32_t pad, int32_t count, const ${w_type} *w, uint32_t *sums)
{
    int32_t first = 0;
    int32_t second = 0;
    int32_t third = 0;
    int32_t fourth = 0;
    for (const ${w_type} *const end = w + (4 * count); w < end; w += 4) {
        first += w[0];
        second += w[1];
        third += w[2];
        fourth += w[3];
    }
    sums[0] += (uint32_t)(pad * first);
    sums[1] += (uint32_t)(pad * second);
    sums[2] += (uint32_t)(pad * third);
    sums[3] += (uint32_t)(pad * fourth);
    return w;
}

/* How many taps of a run are before x, and how many are on it. */
static int32_t ${function}_before(const tw_dsp_conv *p, int32_t line, int32_t column, int32_t *there)
{
    if ((line < 0) || (line >= p->height) || (column >= p->width)) {
        *there = 0;
        return p->run_taps;
    }
    const int32_t before = (column < 0) ? ((-column < p->run_taps) ? -column : p->run_taps) : 0;
    const int32_t end = column + p->run_taps;
    *there = ((end < p->width) ? p->run_taps : (p->width - column)) - before;
    return before;
}

% endif
/* What all values of a window make of the weights of four channels. */
TW_APART void ${function}_four(const tw_dsp_conv *p, const ${x_type} *x, int32_t top, int32_t left, const ${w_type} *w,
        uint32_t *sums${", int32_t inside" if edges else ""})
{
    for (int32_t k = 0; k < p->row_taps; ++k) {
        const int32_t line = top + (k * p->row_dilation);
        int32_t column = left;
        for (int32_t r = 0; r < p->column_runs; ++r) {
% if edges:
            if (inside) {
                w = ${function}_run(x + (line * p->x_row) + (column * p->x_step), p->run_taps * p->channels, w, sums);
                column += p->column_dilation;
                continue;
            }
            int32_t there = 0;
            const int32_t before = ${function}_before(p, line, column, &there);
            const ${x_type} *const from = x + (line * p->x_row) + ((column + before) * p->x_step);
            w = ${function}_outside(p->pad, before * p->channels, w, sums);
            w = ${function}_run(from, there * p->channels, w, sums);
            w = ${function}_outside(p->pad, (p->run_taps - before - there) * p->channels, w, sums);
% else:
            w = ${function}_run(x + (line * p->x_row) + (column * p->x_step), p->run_taps * p->channels, w, sums);
% endif
            column += p->column_dilation;
        }
    }
}

% if offset:
/* The sum of all values of a window. */
TW_APART int32_t ${function}_sum(const tw_dsp_conv *p, const ${x_type} *x, int32_t top, int32_t left)
{
    int32_t sum = 0;
    for (int32_t k = 0; k < p->row_taps; ++k) {
        const int32_t line = top + (k * p->row_dilation);
        int32_t column = left;
        for (int32_t r = 0; r < p->column_runs; ++r) {
% if edges:
            int32_t there = 0;
            const int32_t before = ${function}_before(p, line, column, &there);
            const ${x_type} *from = x + (line * p->x_row) + ((column + before) * p->x_step);
            sum += p->pad * (p->run_taps - there) * p->channels;
% else:
            const int32_t there = p->run_taps;
            const ${x_type} *from = x + (line * p->x_row) + (column * p->x_step);
% endif
            for (const ${x_type} *const end = from + (there * p->channels); from < end; ++from) {
                sum += *from;
            }
            column += p->column_dilation;
        }
    }
    return sum;
}

% endif
static void ${function}(const tw_dsp_conv *p, const uint8_t *x, const ${w_type} *w, const int32_t *parameters, uint8_t *y)
{
    const ${x_type} *const image = (const ${x_type} *)x;
    const int32_t values = p->row_taps * p->column_runs * p->run_taps * p->channels;
% if edges:
    const int32_t last_row = p->height - ((p->row_taps - 1) * p->row_dilation);
    const int32_t last_column = p->width - ((p->column_runs - 1) * p->column_dilation) - (p->run_taps - 1);
% endif
    int32_t top = -p->top;
    for (int32_t i = 0; i < p->pixels; i += p->out_width) {
        int32_t left = -p->left;
        uint8_t *to = y;
        for (int32_t j = 0; j < p->out_width; ++j) {
% if offset:
            const uint32_t before = 0u - (${offset}u * (uint32_t)${function}_sum(p, image, top, left));
% else:
            const uint32_t before = 0;
% endif
% if edges:
            const int32_t inside = (top >= 0) && (top < last_row) && (left >= 0) && (left < last_column);
% endif
            const ${w_type} *with = w;
            const int32_t *own = parameters;
            for (int32_t c = 0; c < p->outputs; c += 4) {
                uint32_t sums[4] = {before, before, before, before};
                ${function}_four(p, image, top, left, with, sums${", inside" if edges else ""});
                with += 4 * values;
                for (int32_t n = 0; (n < 4) && ((c + n) < p->outputs); ++n) {
                    const int32_t sum = (int32_t)(sums[n] + (uint32_t)own[0]);
% for number in range(stored):
                    const int32_t word${number} = own[${number + 1}];
% endfor
                    own += ${1 + stored};
                    to[c + n] = ${requantise}(sum, word0, ${more});
                }
            }
            to += p->y_step;
            left += p->column_stride;
        }
        y += p->y_row;
        top += p->row_stride;
    }
}
