<%doc>
Needs function, blocks (by how many pixels they compute, the most first), inside (blocks of two pixels that are read where they
are, if there are any), runs (of each: first output, count), direct, stored, dense (whether neighbouring pixels read neighbours), flip (128 where x is unsigned, or 0), stripe (whether the pixels are
some of each row), nibbles (whether weights have 4 bits), result_bytes (of one result).
</%doc>\
<%!
def plus(distance, unit=""):
    """The way from the first output to the one that a block begins with; nothing for the first."""
    return f" + ({distance}{unit})" if distance and unit else f" + {distance}" if distance else ""
%>\
<% most, *fewer = blocks %>\
#include "mve_block.h"
#include "mve_column.h"

% if stripe:
/* Pixels of a row at a time: ${", or ".join(map(str, blocks))}. Rows need not follow one another. */
% elif most == 2:
/* Two pixels at a time; an odd last one with the one before it again. */
% endif
TW_KERNEL void ${function}(const tw_mve_conv p, const uint8_t *x, const int8_t *w, const int32_t *parameters,
        uint8_t *y, int8_t *columns)
{
% if direct and not dense:
    const int32_t row_step = p.row_stride * p.x_row;
    const int32_t column_step = p.column_stride * p.x_step;
% endif
% if stripe:
    for (int32_t at = 0, count; at < p.pixels; at += count) {
        const int32_t row = at / p.out_width;
        const int32_t column = at - (row * p.out_width);
        count = ${f"column + 1 < p.out_width ? {most} : 1" if fewer else most};
% elif most == 1:
    for (int32_t at = 0; at < p.pixels; ++at) {
% else:
    for (int32_t pixel = 0; pixel < p.pixels; pixel += ${most}) {
        const int32_t at = (pixel <= (p.pixels - ${most})) ? pixel : (p.pixels - ${most});
% endif
% if dense:
        const int8_t *const from[2] = {(const int8_t *)x + (at * p.x_step), (const int8_t *)x + ((at + 1) * p.x_step)};
        (void)columns;
% elif direct and most == 1:
        const int32_t i = at / p.out_width;
        const int8_t *const from[2] = {(const int8_t *)x + (i * row_step) + ((at - (i * p.out_width)) * column_step)};
        (void)columns;
% elif direct:
        const int8_t *from[2] = {0};
        for (int32_t j = 0; j < ${"count" if fewer else most}; ++j) {
            const int32_t i = (at + j) / p.out_width;
            from[j] = (const int8_t *)x + (i * row_step) + ((at + j - (i * p.out_width)) * column_step);
        }
        (void)columns;
% elif inside:
        const int32_t i = at / p.out_width;
        const int32_t j = at - (i * p.out_width);
        const int32_t line = (i * p.row_stride) - p.top;
        const int32_t column = (j * p.column_stride) - p.left;
        const int32_t inside = (line >= 0) && ((line + ((p.row_taps - 1) * p.row_dilation)) < p.height) && (column >= 0)
            && ((column + p.column_stride + p.run_taps) <= p.width) && ((j + 1) < p.out_width);
        const int8_t *const first = inside ? ((const int8_t *)x + (line * p.x_row) + (column * p.x_step)) : columns;
        const int8_t *const from[2] = {first, first + (inside ? (p.column_stride * p.x_step) : p.room)};
        for (int32_t k = inside ? 2 : 0; k < 2; ++k) {
            tw_mve_column(&p, x, at + k, ${flip}, columns + (k * p.room));
        }
% else:
        const int8_t *const from[2] = {columns, columns + p.room};
% if most == 1:
        tw_mve_column(&p, x, at, ${flip}, columns);
% else:
        for (int32_t j = 0; j < ${"count" if fewer else most}; ++j) {
            tw_mve_column(&p, x, at + j, ${flip}, columns + (j * p.room));
        }
% endif
% endif
        tw_mve_block b = {.x = from[0], .other = from[1], .apart = p.y_step, .steps = ${"inside ? p.row_taps : p.steps" if inside else "p.steps"},
            .zero_point = p.zero_point};
% if nibbles:
        for (int32_t k = 0; k < ${"count" if fewer else most}; ++k) {
% if inside:
            b.more[k] = inside ? tw_mve_nibble_offset_rows(from[k], p.run_taps * p.channels, p.row_dilation * p.x_row, p.row_taps)
                : tw_mve_nibble_offset(from[k], p.length);
% else:
            b.more[k] = tw_mve_nibble_offset(from[k], p.length);
% endif
        }
% endif
% for index, (first, count) in enumerate(runs):
        b.w = w${plus(first // 2 if nibbles else first, " * p.length")};
        b.parameters = parameters${plus((1 + stored) * first)};
        b.y = y + ${"(row * p.y_row) + (column * p.y_step)" if stripe else "(at * p.y_step)"}${plus(result_bytes * first)};
        b.blocks = ${count};
% if fewer:
        ((count == 1) ? ${blocks[1][index]["block"]} : ${blocks[most][index]["block"]})(&b);
% elif inside:
        (inside ? ${inside[index]["block"]} : ${blocks[most][index]["block"]})(&b);
% else:
        ${blocks[most][index]["block"]}(&b);
% endif
% endfor
    }
}
