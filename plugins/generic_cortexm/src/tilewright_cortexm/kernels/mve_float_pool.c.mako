<%doc>
Needs function, kind ("max" or "average"), tail (whether channels do not come in fours), clip ("none", "low" or "both").
NaN is kept: see float_block_mve.c.mako. A comparison leaves nothing of the predicate, which is why it is made again.
</%doc>\
#include "float_block.h"
#include "mve.h"
#include "pool_windows.h"

<%
    limits = {"none": (), "low": ("low",), "both": ("low", "high")}[clip]
    average = kind == "average"
    values = "".join(f', [{name}] "r"({name})' for name in ((*limits, "scale") if average else ()))
%>\
<%def name="line(text)">\
        "${text}\n\t"
</%def>\
<%def name="some(instruction, operands, again)">\
% if tail and again:
${line("vctp.32 %[channels]")}\
% endif
% if tail:
${line("vpst")}\
% endif
${line(f"{instruction.replace('.', 't.', 1) if tail else instruction} {operands}")}\
</%def>\
/* Up to four channels of one window that has at least one position inside. */
TW_KERNEL void ${function}_window(const float *x, float *y, int32_t channels, int32_t rows, int32_t columns,
        int32_t column_step, int32_t row_step, float scale, float low, float high)
{
#ifdef TW_MVE_ARM
    const int32_t step = 4 * column_step;
    const int32_t gap = 4 * (row_step - (columns * column_step));
    __asm__ volatile(
% if average:
${line("vmov.i32 q0, #0")}\
% if tail:
${line("vctp.32 %[channels]")}\
% endif
% else:
${some("vldrw.u32", "q0, [%[x]]", True)}\
% endif
${line("1:")}\
${line("dls lr, %[columns]")}\
${line("2:")}\
${some("vldrw.u32", "q1, [%[x]]", not average)}\
${line("add %[x], %[x], %[step]")}\
% if average:
${line("vadd.f32 q0, q0, q1")}\
% else:
${line("vpt.f32 gt, q1, q0")}\
${line("vorrt q0, q1, q1")}\
${line("vpt.f32 ne, q1, q1")}\
${line("vorrt q0, q1, q1")}\
% endif
${line("le lr, 2b")}\
${line("add %[x], %[x], %[gap]")}\
${line("subs %[rows], %[rows], #1")}\
${line("bne 1b")}\
% if average:
${line("vmul.f32 q0, q0, %[scale]")}\
% for name, relation in zip(limits, ("gt, q1, q0", "gt, q0, q1")):
${line(f"vdup.32 q1, %[{name}]")}\
${line(f"vpt.f32 {relation}")}\
${line("vorrt q0, q1, q1")}\
% endfor
% endif
${some("vstrw.32", "q0, [%[y]]", True)}\
        ""
        : [x] "+&r"(x), [rows] "+&r"(rows)
        : [y] "r"(y), [channels] "r"(channels), [columns] "r"(columns), [step] "r"(step), [gap] "r"(gap)${values}
        : "lr", "q0", "q1", "cc", "memory");
% for name in ("scale", "low", "high"):
    (void)${name};
% endfor
#else
    for (int32_t c = 0; (c < 4) && (c < channels); ++c) {
        float total = ${"0.0f" if average else "x[c]"};
        for (int32_t i = 0; i < rows; ++i) {
            for (int32_t j = 0; j < columns; ++j) {
                const float v = x[(i * row_step) + (j * column_step) + c];
% if average:
                total += v;
% else:
                total = ((v > total) || isnan(v)) ? v : total;
% endif
            }
        }
        y[c] = ${"tw_float_clip(total * scale, low, high)" if average else "total"};
    }
% if not average:
    (void)scale;
    (void)low;
    (void)high;
% endif
#endif
}

/* The ${"mean" if average else "largest value"} of every window, four channels at a time; ${"0" if average else "the lowest value"} where all is padding. Positions
 * count up to `end_row` and `end_column`. */
TW_KERNEL void ${function}(const tw_windows p, const float *x, float *y, int32_t padding, int32_t end_row,
        int32_t end_column, float low, float high)
{
    for (int32_t i = 0; i < p.out_height; ++i) {
        const int32_t line = (i * p.row_stride) - p.top;
        const tw_inside rows = tw_inside_of(line, p.rows, p.row_dilation, p.height);
        const int32_t down = padding ? tw_taps_to(line, p.rows, p.row_dilation, end_row) : rows.count;
        for (int32_t j = 0; j < p.out_width; ++j) {
            const int32_t start = (j * p.column_stride) - p.left;
            const tw_inside columns = tw_inside_of(start, p.columns, p.column_dilation, p.width);
            const int32_t across = padding ? tw_taps_to(start, p.columns, p.column_dilation, end_column) : columns.count;
            const int32_t counted = ((down > 0) && (across > 0)) ? (down * across) : 1;
            const float *const from = x + (rows.first * p.x_row) + (columns.first * p.channels);
            if ((rows.count > 0) && (columns.count > 0)) {
                const float scale = 1.0f / (float)counted;
                for (int32_t c = 0; c < p.channels; c += 4) {
                    ${function}_window(from + c, y + c, p.channels - c, rows.count, columns.count,
                        p.column_dilation * p.channels, p.row_dilation * p.x_row, scale, low, high);
                }
            } else {
                for (int32_t c = 0; c < p.channels; ++c) {
                    y[c] = ${"tw_float_clip(0.0f, low, high)" if average else "-INFINITY"};
                }
            }
            y += p.channels;
        }
        y += p.y_row - (p.out_width * p.channels);
    }
}
