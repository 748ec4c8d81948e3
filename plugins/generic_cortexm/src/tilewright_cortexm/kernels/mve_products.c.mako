<%doc> Needs function, blocks, runs (of each: first output, count), pixels, direct, flip (128 where x is unsigned, or 0). </%doc>\
<%!
def plus(distance, unit=""):
    """The way from the first output to the one that a block begins with; nothing for the first."""
    return f" + {distance}{unit}" if distance else ""
%>\
#include "mve_block.h"
#include "mve_column.h"

% if pixels == 2:
/* Two pixels at a time; an odd last one with the one before it again. */
% endif
TW_KERNEL void ${function}(const tw_mve_conv p, const uint8_t *x, const int8_t *w, const int32_t *parameters,
        uint8_t *y, int8_t *columns)
{
    for (int32_t pixel = 0; pixel < p.pixels; pixel += ${pixels}) {
        const int32_t at = pixel <= p.pixels - ${pixels} ? pixel : p.pixels - ${pixels};
% if direct:
        const int8_t *from[2] = {0};
        for (int32_t j = 0; j < ${pixels}; ++j) {
            const int32_t i = (at + j) / p.out_width;
            from[j] = (const int8_t *)x + (i * p.row_stride * p.width
                + (at + j - i * p.out_width) * p.column_stride) * p.x_step;
        }
        (void)columns;
% else:
        const int8_t *const from[2] = {columns, columns + p.room};
        for (int32_t j = 0; j < ${pixels}; ++j) {
            tw_mve_column(&p, x, at + j, ${flip}, columns + j * p.room);
        }
% endif
        tw_mve_block b = {.x = from[0], .other = from[1], .apart = p.y_step, .steps = p.steps,
            .zero_point = p.zero_point};
% for index, (shape, (first, count)) in enumerate(zip(blocks, runs)):
        b.w = w${plus(first, " * p.length")};
        b.parameters = parameters${plus(2 * first)};
        b.y = y + at * p.y_step${plus(first)};
        b.blocks = ${count};
        ${shape["block"]}(&b);
% endfor
    }
}
