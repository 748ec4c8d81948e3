<%doc>
Needs values (the function's name), side, reads, channels, flip (whether bytes have a sign).
Of FOUR and TWO in winograd.py the matrices `values`.
</%doc>\
<%
    step = channels // 2 * 3
    n = reads
%>\
<%def name="transform(d, s)">\
% if side == 4:
        const uint32_t a${s} = ${d}4 - ${d}2;
        const uint32_t b${s} = ${d}3 - ${d}1;
        const uint32_t e${s} = ${d}4 - (${d}2 << 2);
        const uint32_t f${s} = ${d}3 - (${d}1 << 2);
        const uint32_t ${s}0 = a${s} + ((${d}0 - ${d}2) << 2);
        const uint32_t ${s}1 = e${s} + f${s};
        const uint32_t ${s}2 = e${s} - f${s};
        const uint32_t ${s}3 = a${s} + (b${s} << 1);
        const uint32_t ${s}4 = a${s} - (b${s} << 1);
        const uint32_t ${s}5 = (${d}5 - ${d}3) - (b${s} << 2);
% else:
        const uint32_t ${s}0 = ${d}0 - ${d}2;
        const uint32_t ${s}1 = ${d}1 + ${d}2;
        const uint32_t ${s}2 = ${d}2 - ${d}1;
        const uint32_t ${s}3 = ${d}1 - ${d}3;
% endif
</%def>\
#include "dsp_winograd.h"

/* Bytes of ${n}x${n} pixels become ${n * n} points. Of each, words of two channels, ${step} of all of them, one for each of
 * three tiles in turn. */
static void ${values}(const uint8_t *x, int32_t x_row, uint32_t *v)
{
    for (int32_t c = 0; c < ${channels}; c += 4) {
        uint32_t z[${2 * n * n}];
        uint32_t *at = z;
        for (int32_t i = 0; i < ${n}; ++i) {
            const uint8_t *const row = x + (i * x_row) + c;
% for j in range(n):
            const uint32_t x${j} = tw_dsp_load(row + ${j * channels})${" ^ UINT32_C(0x80808080)" if flip else ""};
% endfor
% for half, parity in enumerate(("even", "odd")):
            {
% for j in range(n):
                const uint32_t d${j} = tw_dsp_${parity}_u8(x${j});
% endfor
${transform("d", "s").replace("        const", "                const")}\
% for j in range(n):
                at[${half * n * n + j}] = s${j};
% endfor
            }
% endfor
            at += ${n};
        }
        for (int32_t half = 0; half < 2; ++half) {
            const uint32_t *from = z + (half * ${n * n});
            uint32_t *to = v + (3 * half);
            for (int32_t j = 0; j < ${n}; ++j) {
% for i in range(n):
                const uint32_t d${i} = from[${i * n}];
% endfor
${transform("d", "s").replace("        const", "                const")}\
% for i in range(n):
                to[${i * n * step}] = tw_dsp_halves(s${i});
% endfor
                ++from;
                to += ${step};
            }
        }
        v += 6;
    }
}
