<%doc>
Needs function, kind ("max" or "average"), vector (Helium's), words (of r: one, or one for each count of positions),
low, high, limited (whether these are not the type's).
</%doc>\
% if vector:
#include "mve.h"
% else:
#include "dsp.h"
% endif
#include "pool_windows.h"

<%
    average = kind == "average"
    lanes = (4 if average else 8) if vector else 2
    width = 128 // lanes
    load = "vldrht.s32" if average else "vldrht.u16"
    more = ', [multiplier] "r"(multiplier)' if average else ""
    more += f', [low] "r"({low}), [high] "r"({high})' if limited else ""
%>\
<%def name="line(text)">\
        "${text}\n\t"
</%def>\
/* Up to ${lanes} channels of one window that has at least one position inside. */
TW_KERNEL void ${function}_window(const int16_t *x, int16_t *y, int32_t channels, int32_t rows, int32_t columns,
        int32_t column_step, int32_t row_step, int32_t multiplier)
{
% if vector:
#ifdef TW_MVE_ARM
    const int32_t step = 2 * column_step;
    const int32_t gap = 2 * (row_step - (columns * column_step));
    __asm__ volatile(
${line(f"vctp.{width} %[channels]")}\
% if average:
${line("vmov.i32 q0, #0")}\
% else:
${line("vpst")}\
${line(f"{load} q0, [%[x]]")}\
% endif
${line("1:")}\
${line("dls lr, %[columns]")}\
${line("2:")}\
${line("vpst")}\
${line(f"{load} q1, [%[x]]")}\
${line("vadd.i32 q0, q0, q1" if average else "vmax.s16 q0, q0, q1")}\
${line("add %[x], %[x], %[step]")}\
${line("le lr, 2b")}\
${line("add %[x], %[x], %[gap]")}\
${line("subs %[rows], %[rows], #1")}\
${line("bne 1b")}\
% if average:
${line("vqrdmulh.s32 q0, q0, %[multiplier]")}\
% endif
% if limited:
${line("vdup.32 q1, %[low]")}\
${line("vmax.s32 q0, q0, q1")}\
${line("vdup.32 q1, %[high]")}\
${line("vmin.s32 q0, q0, q1")}\
% endif
${line("vpst")}\
        "vstrht.${width} q0, [%[y]]"
        : [x] "+&l"(x), [rows] "+&r"(rows)
        : [y] "l"(y), [channels] "r"(channels), [columns] "r"(columns), [step] "r"(step), [gap] "r"(gap)${more}
        : "lr", "q0", "q1", "cc", "memory");
    (void)multiplier;
#else
% endif
    for (int32_t c = 0; c < channels; ++c) {
        int32_t total = ${"0" if average else "x[c]"};
        for (int32_t i = 0; i < rows; ++i) {
            for (int32_t j = 0; j < columns; ++j) {
                const int32_t v = x[(i * row_step) + (j * column_step) + c];
% if average:
                total += v;
% else:
                total = (v > total) ? v : total;
% endif
            }
        }
% if average:
        total = (int32_t)((((int64_t)total * multiplier) + (INT64_C(1) << 30)) >> 31);
% endif
% if limited:
        total = (total < ${low}) ? ${low} : ((total > ${high}) ? ${high} : total);
% endif
        y[c] = (int16_t)total;
    }
    (void)multiplier;
% if vector:
#endif
% endif
}

% if not vector:
/* The same of two channels that are neighbours: a word holds both. */
TW_KERNEL void ${function}_pair(const int16_t *x, int16_t *y, int32_t rows, int32_t columns, int32_t column_step,
        int32_t row_step, int32_t multiplier)
{
    int32_t even = 0;
    int32_t odd = 0;
    for (int32_t i = 0; i < rows; ++i) {
        const int16_t *at = x;
        for (int32_t k = columns; k > 0; --k) {
            const uint32_t v = tw_dsp_load((const uint8_t *)at);
            even += (int16_t)(v & 65535u);
            odd += (int32_t)v >> 16;
            at += column_step;
        }
        x += row_step;
    }
% for at, name in enumerate(("even", "odd")):
    ${name} = (int32_t)((((int64_t)${name} * multiplier) + (INT64_C(1) << 30)) >> 31);
% if limited:
    ${name} = (${name} < ${low}) ? ${low} : ((${name} > ${high}) ? ${high} : ${name});
% endif
    y[${at}] = (int16_t)${name};
% endfor
}

% endif
/* ${"The mean" if average else "The largest value"} of every window; ${"0" if average else "the lowest value"} where all is padding. Positions count up to `end_row` and
 * `end_column`, where padding does. */
TW_KERNEL void ${function}(const tw_windows p, const int16_t *x, int16_t *y, const int32_t *r, int32_t padding,
        int32_t end_row, int32_t end_column)
{
    for (int32_t i = 0; i < p.out_height; ++i) {
        const int32_t line = (i * p.row_stride) - p.top;
        const tw_inside rows = tw_inside_of(line, p.rows, p.row_dilation, p.height);
        for (int32_t j = 0; j < p.out_width; ++j) {
            const int32_t start = (j * p.column_stride) - p.left;
            const tw_inside columns = tw_inside_of(start, p.columns, p.column_dilation, p.width);
            const int16_t *const from = x + (rows.first * p.x_row) + (columns.first * p.channels);
            const int32_t step = p.column_dilation * p.channels;
            const int32_t jump = p.row_dilation * p.x_row;
            const int32_t inside = rows.count * columns.count;
% if words > 1:
            const int32_t counted = padding ? (tw_taps_to(line, p.rows, p.row_dilation, end_row)
                * tw_taps_to(start, p.columns, p.column_dilation, end_column)) : inside;
            const int32_t multiplier = r[(counted < 1) ? 0 : (counted - 1)];
% elif average:
            const int32_t multiplier = r[0];
% else:
            const int32_t multiplier = 0;
% endif
            int32_t c = 0;
% if not vector:
            for (; (inside > 0) && (c < (p.channels - 1)); c += 2) {
                ${function}_pair(from + c, y + c, rows.count, columns.count, step, jump, multiplier);
            }
% endif
            for (; (inside > 0) && (c < p.channels); c += ${lanes}) {
                const int32_t some = ((p.channels - c) < ${lanes}) ? (p.channels - c) : ${lanes};
                ${function}_window(from + c, y + c, some, rows.count, columns.count, step, jump, multiplier);
            }
            for (; (inside < 1) && (c < p.channels); ++c) {
                y[c] = ${(min(max(0, low), high) if average else -32768)};
            }
            y += p.channels;
        }
        y += p.y_row - (p.out_width * p.channels);
    }
    (void)r;
    (void)padding;
    (void)end_row;
    (void)end_column;
}
