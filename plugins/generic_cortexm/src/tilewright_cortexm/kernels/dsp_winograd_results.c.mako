<%doc>
Needs results and requantise (names of functions), side, reads, shifts, inverse, stored, partial (whether a tile may have
results that are not there). Of FOUR and TWO in winograd.py the matrices `results`; columns first, rows of which have the
shift of the first of them.
</%doc>\
<% n = reads %>\
<%def name="transform(d, s)">\
% if side == 4:
            const uint32_t o = ${d}1 + ${d}2;
            const uint32_t q = ${d}1 - ${d}2;
            const uint32_t r = ${d}3 + ${d}4;
            const uint32_t t = ${d}3 - ${d}4;
            const uint32_t ${s}0 = r - (o << 2) + ((${d}0 + (${d}0 << 1)) << 1);
            const uint32_t ${s}1 = t - (q << 1);
            const uint32_t ${s}2 = r - o;
            const uint32_t ${s}3 = (t << 1) - q + ((${d}5 + (${d}5 << 1)) << 1);
% else:
            const uint32_t ${s}0 = ${d}1 + ${d}2 + (${d}0 << 1);
            const uint32_t ${s}1 = ${d}1 - ${d}2 - (${d}3 << 1);
% endif
</%def>\
#include "dsp_winograd.h"

/* The sums of two outputs of `count` tiles become results. `to`: where those of each tile begin. */
static void ${results}(const tw_dsp_winograd *p, const int32_t *m, int32_t count, uint8_t *const *to,
        const int32_t *parameters)
{
    const int32_t y_row = p->y_row;
    const int32_t y_step = p->y_step;
% if stored == 1:
    const int32_t above = p->above;
    const int32_t zero_point = p->zero_point;
% endif
    for (int32_t k = 0; k < (2 * count); ++k) {
        const int32_t *const own = parameters + ((k & 1) * ${1 + stored});
        const uint32_t bias = (uint32_t)own[0];
% for number in range(stored):
        const int32_t word${number} = own[${number + 1}];
% endfor
        uint32_t z[${side}][${n}];
% if partial:
        uint8_t part[${side}][${side}];
% else:
        uint8_t *y = to[k >> 1] + (k & 1);
% endif
        for (int32_t j = 0; j < ${n}; ++j) {
% for i in range(n):
            const uint32_t d${i} = (uint32_t)m[(6 * j) + ${6 * n * i}];
% endfor
${transform("d", "s")}\
% for i in range(side):
            z[${i}][j] = s${i}${f" << {shifts[0] - shifts[i]}" if shifts[i] < shifts[0] else ""};
% endfor
        }
        ++m;
        for (int32_t i = 0; i < ${side}; ++i) {
% for j in range(n):
            const uint32_t d${j} = z[i][${j}];
% endfor
${transform("d", "s")}\
% for j in range(side):
            ${f"part[i][{j}]" if partial else f"y[{j} * y_step]" if j else "y[0]"} = ${requantise}((int32_t)(bias + \
(uint32_t)((int32_t)${f"(s{j} * UINT32_C({inverse}))" if inverse > 1 else f"s{j}"} >> ${shifts[0] + shifts[j]})),
                word0, ${"word1, word2" if stored == 3 else "above, zero_point"});
% endfor
% if not partial:
            y += y_row;
% endif
        }
% if partial:
        for (int32_t i = 0; (i < ${side}) && (i < p->out_height); ++i) {
            uint8_t *const y = to[k >> 1] + (i * y_row) + (k & 1);
            for (int32_t j = 0; (j < ${side}) && (j < p->out_width); ++j) {
                y[j * y_step] = part[i][j];
            }
        }
% endif
    }
}
