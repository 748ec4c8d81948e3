<%doc>
Needs function, sign ("s" or "u", of x), low, high, words, padding, requantise, convert, lanes: 8, sums of 16 bits, which hold 255 values, or
4, sums of 32.
</%doc>\
#include "mve.h"
#include "pool_windows.h"

<%
    full = (low, high) in ((-128, 127), (0, 255))
    narrow = "vqmovnb.s16" if low < 0 else "vqmovunb.s16"
    sums = ["q1", "q2"] if lanes == 8 else ["q0"]
    width = 128 // lanes
    finish = (
        "vsub.i32 {q}, {q}, %[zeros]", "vcvt.f32.s32 {q}, {q}", "vmul.f32 {q}, {q}, %[scale]", f"{convert}.s32.f32 {{q}}, {{q}}"
    )
    bounds = "" if full else f', [low] "r"({low}), [high] "r"({high})'
%>\
<%def name="line(text)">\
        "${text}\n\t"
</%def>\
/* Up to ${lanes} channels of one window that has at least one position inside. */
TW_KERNEL void ${function}_window(const uint8_t *x, uint8_t *y, int32_t channels, int32_t rows, int32_t columns,
        int32_t column_step, int32_t row_step, int32_t zeros, int32_t scale, int32_t zero_point)
{
#ifdef TW_MVE_ARM
    const int32_t gap = row_step - (columns * column_step);
    __asm__ volatile(
${line(f"vctp.{width} %[channels]")}\
${line("vmov.i32 q0, #0")}\
${line("1:")}\
${line("dls lr, %[columns]")}\
${line("2:")}\
${line("vpst")}\
${line(f"vldrbt.{sign}{width} q1, [%[x]]")}\
${line(f"vadd.i{width} q0, q0, q1")}\
${line("add %[x], %[x], %[column_step]")}\
${line("le lr, 2b")}\
${line("add %[x], %[x], %[gap]")}\
${line("subs %[rows], %[rows], #1")}\
${line("bne 1b")}\
% if lanes == 8:
${line(f"vmovlb.{sign}16 q1, q0")}\
${line(f"vmovlt.{sign}16 q2, q0")}\
% endif
% for text in finish:
% for q in sums:
${line(text.replace("{q}", q))}\
% endfor
% endfor
${line(f"vqmovnb.s32 q0, {sums[0]}")}\
% if lanes == 8:
${line("vqmovnt.s32 q0, q2")}\
% endif
${line("vqadd.s16 q0, q0, %[zero_point]")}\
% if full:
${line(f"{narrow} q0, q0")}\
% else:
${line("vdup.16 q1, %[low]")}\
${line("vmax.s16 q0, q0, q1")}\
${line("vdup.16 q1, %[high]")}\
${line("vmin.s16 q0, q0, q1")}\
% endif
${line("vpst")}\
        "vstrbt.${width} q0, [%[y]]"
        : [x] "+&l"(x), [rows] "+&r"(rows)
        : [y] "l"(y), [channels] "r"(channels), [columns] "r"(columns), [column_step] "r"(column_step),
          [gap] "r"(gap), [zeros] "r"(zeros), [scale] "r"(scale), [zero_point] "r"(zero_point)${bounds}
        : "lr", "q0", "q1", "q2", "cc", "memory");
#else
    float factor;
    memcpy(&factor, &scale, sizeof factor);
    for (int32_t c = 0; c < channels; ++c) {
        int32_t sum = -zeros;
        for (int32_t i = 0; i < rows; ++i) {
            for (int32_t j = 0; j < columns; ++j) {
                sum += *(const ${"int8_t" if sign == "s" else "uint8_t"} *)(x + (i * row_step) + (j * column_step) + c);
            }
        }
        y[c] = (uint8_t)${requantise}(sum, factor, zero_point, ${low}, ${high});
    }
#endif
}

/* The mean of every window, ${lanes} channels at a time. */
TW_KERNEL void ${function}(const tw_windows p, const uint8_t *x, uint8_t *y, const int32_t *r, int32_t x_zero_point,
        int32_t zero_point, int32_t counted_rows, int32_t counted_columns)
{
    for (int32_t i = 0; i < p.out_height; ++i) {
        const int32_t top = (i * p.row_stride) - p.top;
        const tw_inside rows = tw_inside_of(top, p.rows, p.row_dilation, p.height);
        for (int32_t j = 0; j < p.out_width; ++j) {
            const int32_t left = (j * p.column_stride) - p.left;
            const tw_inside columns = tw_inside_of(left, p.columns, p.column_dilation, p.width);
            const uint8_t *const from = x + (rows.first * p.x_row) + (columns.first * p.channels);
            const int32_t inside = rows.count * columns.count;
% if words > 1 and padding:
            const int32_t counted = tw_taps_to(top, p.rows, p.row_dilation, counted_rows)
                * tw_taps_to(left, p.columns, p.column_dilation, counted_columns);
            const int32_t scale = r[(counted < 1) ? 0 : (counted - 1)];
% elif words > 1:
            const int32_t scale = r[(inside < 1) ? 0 : (inside - 1)];
% else:
            const int32_t scale = r[0];
% endif
            for (int32_t c = 0; c < p.channels; c += ${lanes}) {
                const int32_t channels = ((p.channels - c) < ${lanes}) ? (p.channels - c) : ${lanes};
                if (inside > 0) {
                    ${function}_window(from + c, y + c, channels, rows.count, columns.count,
                        p.column_dilation * p.channels, p.row_dilation * p.x_row, inside * x_zero_point,
                        scale, zero_point);
                } else {
                    tw_mve_fill((int8_t *)y + c,
                        (zero_point < ${low}) ? ${low} : ((zero_point > ${high}) ? ${high} : zero_point), channels);
                }
            }
            y += p.channels;
        }
        y += p.y_row - (p.out_width * p.channels);
    }
    (void)counted_rows;
    (void)counted_columns;
}
