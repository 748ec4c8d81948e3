<%doc>
Needs function, blocks, runs (of each: first output, count), pixels, widen, group_words (words of a four of values in all
columns), direct (whether x itself is the column), pairs (blocks of two columns, where three are computed together but
do not come out even).
</%doc>\
<%!
def plus(distance, unit=""):
    """The way from the first output to the one that a block begins with; nothing for the first."""
    return f" + {distance}{unit}" if distance else ""
%>\
#include "dsp_block.h"
#include "dsp_conv.h"

% if pairs:
/* Columns at a time: ${pixels}, and two where one or two are left over. */
% else:
/* Columns at a time: ${pixels}. The last ones again where they do not come out even. */
% endif
TW_KERNEL void ${function}(const tw_dsp_conv p, const uint8_t *x, const uint32_t *w, const int32_t *parameters,
        uint8_t *y, uint32_t *scratch)
{
% if pairs:
    for (int32_t at = 0, count; at < p.pixels; at += count) {
        count = p.pixels - at == 2 || p.pixels - at == 4 ? 2 : 3;
        const int32_t words = p.row_taps * p.column_runs * p.groups * 2 * count;
        uint32_t *const columns = scratch;
        for (int32_t j = 0; j < count; ++j) {
            tw_dsp_column_${widen}(&p, x, at + j, columns + 2 * j, 2 * count, (uint8_t *)(columns + words));
        }
% else:
    const int32_t words = p.row_taps * p.column_runs * p.groups * ${group_words};
    for (int32_t pixel = 0; pixel < p.pixels; pixel += ${pixels}) {
        const int32_t at = pixel <= p.pixels - ${pixels} ? pixel : p.pixels - ${pixels};
% endif
% if direct:
        const uint32_t *const columns = (const uint32_t *)(const void *)(x + at * p.x_step);
        (void)scratch;
% elif not pairs:
        uint32_t *const columns = scratch;
        for (int32_t j = 0; j < ${pixels}; ++j) {
            tw_dsp_column_${widen}(&p, x, at + j, columns + 2 * j, ${group_words}, (uint8_t *)(columns + words));
        }
% endif
        tw_dsp_block b = {.columns = columns, .end = columns + words, .apart = p.y_step,
            .above = p.above, .zero_point = p.zero_point};
% for number, (shape, (first, count)) in enumerate(zip(blocks, runs)):
        b.w = w${plus(first, " * (p.row_taps * p.column_runs * p.groups)")};
        b.parameters = parameters${plus(2 * first)};
        b.y = y + at * p.y_step${plus(first)};
        b.blocks = ${count};
% if pairs:
        (count == 2 ? ${pairs[number]["block"]} : ${shape["block"]})(&b);
% else:
        ${shape["block"]}(&b);
% endif
% endfor
    }
}
