<%doc>
Needs function, sizes (first channel, how many blocks, channels in each), direct, kind (see mve_words.py), stored (words of a
channel but one), unroll (steps of eight in a trip; 0 where there is none), tail (values after the last step), low, high.
</%doc>\
#include "dsp_words.h"
#include "mve.h"
#include "mve_column.h"

<%
    words = stored + 1
    pairs = [("r4", "r5"), ("r6", "r7"), ("r8", "r9"), ("r10", "r11")]
    if kind == "high":
        requantised = f"tw_dsp_words_shifted_wide(total, &q[2], {low}, {high})"
    else:
        requantised = f"tw_dsp_words_exact((float)total, q[2], p.zero_point, {low}, {high})"
%>\
% for size in sorted({size for _, _, size in sizes}):
/* Sums in 64 bits of the products of ${size} channels with one pixel: `trips` of ${unroll} steps of eight values, then ${tail} more. */
#ifdef TW_MVE_ARM
TW_ASSEMBLER void ${function}_${size}(const int8_t *x __attribute__((unused)), const int8_t *w __attribute__((unused)),
        int32_t trips __attribute__((unused)), int64_t *totals __attribute__((unused)))
{
    __asm__ volatile(
        "push {r4-r11, lr}\n\t"
% for low_half, high_half in pairs[:size]:
        "movs ${low_half}, #0\n\t"
        "movs ${high_half}, #0\n\t"
% endfor
        "wls lr, r2, 2f\n\t"
        "1:\n\t"
        ".rept ${max(unroll, 1)}\n\t"
        "vldrh.u16 q0, [r0], #16\n\t"
% for c, (low_half, high_half) in enumerate(pairs[:size]):
        "vldrb.s16 q${1 + c % 2}, [r1], #8\n\t"
        "vmlaldava.s16 ${low_half}, ${high_half}, q0, q${1 + c % 2}\n\t"
% endfor
        ".endr\n\t"
        "le lr, 1b\n\t"
        "2:\n\t"
% if tail:
        "mov r2, #${tail}\n\t"
        "vctp.16 r2\n\t"
        "vpst\n\t"
        "vldrht.u16 q0, [r0]\n\t"
% for c, (low_half, high_half) in enumerate(pairs[:size]):
        "vpst\n\t"
        "vldrbt.s16 q1, [r1, #${c * tail}]\n\t"
        "vmlaldava.s16 ${low_half}, ${high_half}, q0, q1\n\t"
% endfor
% endif
        "stm r3, {r4-r${3 + 2 * size}}\n\t"
        "pop {r4-r11, pc}\n" ::: "memory");
}
#else
TW_KERNEL void ${function}_${size}(const int8_t *x, const int8_t *w, int32_t trips, int64_t *totals)
{
    const int32_t count = ${8 * unroll} * trips;
    for (int32_t c = 0; c < ${size}; ++c) {
        totals[c] = 0;
        for (int32_t k = 0; k < (count + ${tail}); ++k) {
            int16_t v;
            memcpy(&v, x + (2 * k), sizeof v);
            totals[c] += v * w[(k < count) ? ((((k / 8 * ${size}) + c) * 8) + (k % 8)) : ((count * ${size}) + (c * ${tail}) + (k - count))];
        }
    }
}
#endif

% endfor
/* One pixel at a time. */
static void ${function}(const tw_mve_conv p, const uint8_t *x, const int8_t *w, const int32_t *parameters, uint8_t *y,
        int8_t *columns)
{
    for (int32_t at = 0; at < p.pixels; ++at) {
        const int32_t i = at / p.out_width;
        const int32_t j = at - (i * p.out_width);
        const int8_t *v = w;
        const int32_t *q = parameters;
        uint8_t *to = y + (i * p.y_row) + (j * p.y_step);
% if direct:
        const int8_t *const from = (const int8_t *)x + (i * p.row_stride * p.x_row) + (j * p.column_stride * p.x_step);
% else:
        const int8_t *const from = columns;
        tw_mve_column(&p, x, at, 0, columns);
% endif
% for _, count, size in sizes:
        for (int32_t n = 0; n < ${count}; ++n) {
            int64_t totals[${size}];
            ${function}_${size}(from, v, p.steps, totals);
            for (int32_t c = 0; c < ${size}; ++c) {
                const int64_t total = totals[c] + ((int64_t)q[1] * (INT64_C(1) << 32)) + (int64_t)(uint32_t)q[0];
                const int16_t result = (int16_t)${requantised};
                memcpy(to, &result, sizeof result);
                to += sizeof result;
                q += ${words};
            }
            v += ${size} * p.length;
        }
% endfor
    }
    (void)columns;
}
