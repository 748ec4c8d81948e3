<%doc>
Needs function, blocks, runs (of each: first output, count), pixels, widen, group_words (words of a four of values in all
columns), direct (whether x itself is the column).
</%doc>\
#include "dsp_block.h"
#include "dsp_conv.h"

/* Columns at a time: ${pixels}. The last ones again where they do not come out even. */
TW_KERNEL void ${function}(const tw_dsp_conv p, const uint8_t *x, const uint32_t *w, const int32_t *parameters,
        uint8_t *y, uint32_t *scratch)
{
    const int32_t words = p.row_taps * p.column_runs * p.groups * ${group_words};
    for (int32_t pixel = 0; pixel < p.pixels; pixel += ${pixels}) {
        const int32_t at = pixel <= p.pixels - ${pixels} ? pixel : p.pixels - ${pixels};
% if direct:
        const uint32_t *const columns = (const uint32_t *)(const void *)(x + at * p.x_step);
        (void)scratch;
% else:
        uint32_t *const columns = scratch;
        for (int32_t j = 0; j < ${pixels}; ++j) {
            tw_dsp_column_${widen}(&p, x, at + j, columns + 2 * j, ${group_words}, (uint8_t *)(columns + words));
        }
% endif
        tw_dsp_block b = {.columns = columns, .end = columns + words, .apart = p.y_step,
            .above = p.above, .zero_point = p.zero_point};
% for shape, (first, count) in zip(blocks, runs):
        b.w = w + ${first} * (p.row_taps * p.column_runs * p.groups);
        b.parameters = parameters + ${2 * first};
        b.y = y + at * p.y_step + ${first};
        b.blocks = ${count};
        ${shape["block"]}(&b);
% endfor
    }
}
