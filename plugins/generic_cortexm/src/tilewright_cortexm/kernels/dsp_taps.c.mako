<%doc> Needs function, widen ("i8" or "u8"), taps, unroll, requantise. </%doc>\
#include "depthwise_taps.h"
#include "dsp_halves.h"

/* One pixel, four channels at a time. Weights and parameters are those of the four channels in turn. */
static void ${function}_pixel(uintptr_t base, const uintptr_t *table, const uint32_t *w, const int32_t *parameters,
        uint8_t *y, int32_t channels, int32_t above, int32_t zero_point)
{
    for (int32_t group = 0; group < channels; group += 4) {
        const int32_t back = group + 4 <= channels ? 0 : group + 4 - channels; /* the last four again */
        const uintptr_t *at = table;
        base -= (uintptr_t)back;
        int32_t s0 = parameters[0], s1 = parameters[1], s2 = parameters[2], s3 = parameters[3];
        ${f"for (int32_t k = 0; k < {taps // unroll}; ++k) " if taps > unroll else ""}{
            uint32_t x, v, even, odd;
#if defined(TW_DSP_ARM) && defined(__ARM_FEATURE_UNALIGNED) /* what compilers run out of registers for */
            __asm__ volatile(
% for i in range(unroll):
                "ldr %[x], [%[at]], #4\n\t"
                "ldr %[x], [%[base], %[x]]\n\t"
                "ldr %[even], [%[w]], #4\n\t"
                "${'sxtb16' if widen == 'i8' else 'uxtb16'} %[v], %[x], ror #8\n\t"
                "${'sxtb16' if widen == 'i8' else 'uxtb16'} %[x], %[x]\n\t"
                "sxtb16 %[odd], %[even], ror #8\n\t"
                "sxtb16 %[even], %[even]\n\t"
                "smlabb %[s0], %[x], %[even], %[s0]\n\t"
                "smlabb %[s1], %[v], %[odd], %[s1]\n\t"
                "smlatt %[s2], %[x], %[even], %[s2]\n\t"
                "smlatt %[s3], %[v], %[odd], %[s3]\n\t"
% endfor
                : [at] "+&r"(at), [w] "+&r"(w), [s0] "+&r"(s0), [s1] "+&r"(s1), [s2] "+&r"(s2), [s3] "+&r"(s3),
                  [x] "=&r"(x), [v] "=&r"(v), [even] "=&r"(even), [odd] "=&r"(odd)
                : [base] "r"(base) : "memory");
#else
            for (int32_t i = 0; i < ${unroll}; ++i) {
                x = tw_dsp_load((const void *)(base + *at++));
                v = *w++;
                even = tw_dsp_even_i8(v);
                odd = tw_dsp_odd_i8(v);
                v = tw_dsp_odd_${widen}(x);
                x = tw_dsp_even_${widen}(x);
                s0 = tw_dsp_mlabb(x, even, s0);
                s1 = tw_dsp_mlabb(v, odd, s1);
                s2 = tw_dsp_mlatt(x, even, s2);
                s3 = tw_dsp_mlatt(v, odd, s3);
            }
#endif
        }
        y -= back;
% for i in range(4):
        y[${i}] = ${requantise}(s${i}, parameters[${4 + i}], above, zero_point);
% endfor
        y += 4;
        base += 4;
        parameters += 8;
    }
}

/* scratch: two tables of taps, for pixels inside and at the edge, and one pixel of padding. */
TW_KERNEL void ${function}(const tw_depthwise p, const uint8_t *x, const uint32_t *w, const int32_t *parameters,
        uint8_t *y, void *scratch, int32_t above, int32_t zero_point)
{
    uintptr_t *const tables = scratch, *const edge_table = tables + ${taps};
    uint8_t *const outside = (uint8_t *)(edge_table + ${taps});
    memset(outside, p.pad, (size_t)p.channels);
    tw_taps_of(&p, 0, 0, 0, 0, 0, tables);
    for (int32_t i = 0; i < p.out_height; ++i) {
        const int32_t top = i * p.row_stride - p.top;
        const int32_t rows_inside = top >= 0 && top + (p.rows - 1) * p.row_dilation < p.height;
        for (int32_t j = 0; j < p.out_width; ++j) {
            const int32_t left = j * p.column_stride - p.left;
            const int32_t inside = rows_inside && left >= 0 && left + (p.columns - 1) * p.column_dilation < p.width;
            const uintptr_t base = (uintptr_t)x + (uintptr_t)(top * p.x_row + left * p.channels);
            if (!inside) {
                tw_taps_of(&p, base, (uintptr_t)outside, top, left, 1, edge_table);
            }
            ${function}_pixel(base, inside ? tables : edge_table, w, parameters, y, p.channels, above, zero_point);
            y += p.channels;
        }
        y += p.y_row - p.out_width * p.channels;
    }
}
