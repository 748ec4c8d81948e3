<%doc>
Needs function, blocks (by how many columns they compute, the most first), sizes (of a block, and of the last one of the
outputs where that is smaller), widen, twice, group_words (words of a four of values in one column), direct (whether x
itself is the column), pointwise (whether pixel n of y reads pixel n of x, and nothing else), apart (whether the words of
columns alternate), nibbles (whether weights have 4 bits; then flip, of signed bytes), stripe (whether the columns are some
of each row).
</%doc>\
<%
    counts = list(blocks)
    most, fewer = counts[0], counts[1:]
    summed = nibbles and group_words > 1
%>\
#include "dsp_block.h"
#include "dsp_conv.h"

% if stripe:
/* Columns of a row at a time: ${", or ".join(map(str, counts))}. Rows need not follow one another. */
% elif fewer:
/* Columns at a time: ${most}, and two where one or two are left over. */
% elif most > 1:
/* Columns at a time: ${most}. The last ones again where they do not come out even. */
% endif
TW_KERNEL void ${function}(const tw_dsp_conv p, const uint8_t *x, const uint32_t *w, const int32_t *parameters,
        uint8_t *y, uint32_t *scratch)
{
% if stripe or fewer:
    for (int32_t at = 0, count; at < p.pixels; at += count) {
% if stripe:
        const int32_t row = at / p.out_width;
        const int32_t column = at - (row * p.out_width);
% endif
% if not fewer:
        count = ${most};
% elif stripe:
        const int32_t left = p.out_width - column;
        count = (left < ${most}) ? left : ${"left == 4 ? 2 : 3" if most == 3 else most};
% else:
        count = (((p.pixels - at) == 2) || ((p.pixels - at) == 4)) ? 2 : 3;
% endif
        const int32_t words = p.row_taps * p.column_runs * p.groups * ${group_words} * count;
% else:
    const int32_t words = p.row_taps * p.column_runs * p.groups * ${group_words * most};
% if most == 1:
    for (int32_t at = 0; at < p.pixels; ++at) {
% else:
    for (int32_t pixel = 0; pixel < p.pixels; pixel += ${most}) {
        const int32_t at = (pixel <= (p.pixels - ${most})) ? pixel : (p.pixels - ${most});
% endif
% endif
% if direct:
        const uint32_t *const columns = (const uint32_t *)(const void *)\
(x + ${"row * p.x_row + column * p.x_step" if stripe else "at * p.x_step"});
        (void)scratch;
% else:
        uint32_t *const columns = scratch;
% if summed:
        uint32_t sums[${most}] = {0};
% endif
% if most == 1 and pointwise:
        (void)tw_dsp_widen_${widen}(x + (at * p.x_step), p.channels, columns, ${group_words});
% elif most == 1:
        tw_dsp_column_${widen}(&p, x, at, columns, ${group_words}, (uint8_t *)(columns + words)${", sums" if summed else ""});
% else:
        for (int32_t j = 0; j < ${"count" if stripe or fewer else most}; ++j) {
<%
    column = f"columns + {'j' if apart else '(2 * j)'}"
    step = f"{group_words} * count" if stripe or fewer else group_words * most
%>\
% if pointwise:
            (void)tw_dsp_widen_${widen}(x + ((at + j) * p.x_step), p.channels, ${column}, ${step});
% else:
            tw_dsp_column_${widen}(&p, x, at + j, ${column}, ${step}, (uint8_t *)(columns + words)\
${", &sums[j]" if summed else ""});
% endif
        }
% endif
% endif
        tw_dsp_block b = {.columns = columns, .end = columns + words, .apart = p.y_step,
            .above = p.above, .zero_point = p.zero_point};
% if summed and most == 1:
        b.more[0] = tw_dsp_nibble_offset(sums[0], words / 2, UINT32_C(${flip}));
% elif summed:
        for (int32_t j = 0; j < ${"count" if stripe or fewer else most}; ++j) {
            b.more[j] = tw_dsp_nibble_offset(sums[j], words / ${"count" if stripe or fewer else most} / 2, UINT32_C(${flip}));
        }
% elif nibbles:
        b.more[0] = tw_dsp_nibble_offset_bytes(columns, words, UINT32_C(${flip}));
% endif
% for number, size in enumerate(sizes):
<%
    first = f"(p.outputs - {size})" if number else ""
    stored = f"({first} / 2)" if nibbles else first
%>\
        b.w = w${first and f" + ({stored} * p.row_taps * p.column_runs * p.groups)"};
        b.parameters = parameters${first and f" + ({4 if twice else 2} * {first})"};
        b.y = y + ${"(row * p.y_row) + (column * p.y_step)" if stripe else "(at * p.y_step)"}${first and f" + {first}"};
        b.blocks = ${1 if number else f"p.outputs / {size}" if size > 1 else "p.outputs"};
% if fewer:
        (${"".join(f"count == {count} ? {blocks[count][number]['block']} : " for count in reversed(fewer))}\
${blocks[most][number]["block"]})(&b);
% else:
        ${blocks[most][number]["block"]}(&b);
% endif
% endfor
    }
}
