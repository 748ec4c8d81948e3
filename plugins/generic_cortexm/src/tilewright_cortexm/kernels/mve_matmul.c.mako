<%doc>
Needs function, blocks: of four columns and of what is left, rest (columns of the last block, or 0), a_flip (128 where A
is unsigned, or 0), pixels (rows computed together), stored (see mve_requant.py).
</%doc>\
#include "mve_block.h"
#include "mve_panel.h"

/* `panel` columns at a time. Rows at a time: ${pixels}; the last ones again where they do not come out even. */
static void ${function}(const tw_arm_matmul p, const uint8_t *a, const uint8_t *b, uint8_t *y, void *scratch,
        int32_t panel, int32_t steps, const int32_t *words, int32_t zero_point)
{
    const int32_t room = (p.depth + 15) / 16 * 16;
    const int32_t a_zero = p.a_zero - ${a_flip};
    int8_t *const rows = scratch;
    int8_t *const w = rows + ${'room' if pixels == 1 else f'{pixels} * room'};
    int32_t *const parameters = (int32_t *)(void *)(w + (panel * room));
    uint8_t *const results = (uint8_t *)(parameters + (${1 + stored} * panel));
    for (int32_t first = 0; first < p.columns; first += panel) {
        const int32_t count = ((p.columns - first) < panel) ? (p.columns - first) : panel;
        tw_mve_panel(&p, b + (first * p.b_column), count, a_zero, words, ${stored}, w, parameters);
% if pixels == 1:
        for (int32_t at = 0; at < p.rows; ++at) {
% else:
        for (int32_t row = 0; row < p.rows; row += ${pixels}) {
            const int32_t at = (row <= (p.rows - ${pixels})) ? row : (p.rows - ${pixels});
% endif
            uint8_t *const to = y + (at * p.y_row) + (first * p.y_step);
            tw_mve_block c = {.x = rows, .other = ${'rows + room' if pixels == 2 else 'rows'}, .w = w, .parameters = parameters,
                .y = (p.y_step == 1) ? to : results, .apart = (p.y_step == 1) ? p.y_row : panel, .blocks = count / 4,
                .steps = steps, .zero_point = zero_point};
% if pixels == 1:
            c.more[0] = -p.b_zero * tw_mve_gather(a + (at * p.a_row), p.a_step, p.depth, ${a_flip}, rows, 16);
% else:
            for (int32_t j = 0; j < ${pixels}; ++j) {
                const uint8_t *const from = a + ((at + j) * p.a_row);
                c.more[j] = -p.b_zero * tw_mve_gather(from, p.a_step, p.depth, ${a_flip}, rows + (j * room), 16);
            }
% endif
            if (c.blocks) {
                ${blocks[0]["block"]}(&c);
            }
% if rest:
            if (count & 3) {
                c.w = w + ((count & ~3) * room);
                c.parameters = parameters + (${1 + stored} * (count & ~3));
                c.y += count & ~3;
                c.blocks = 1;
                ${blocks[1]["block"]}(&c);
            }
% endif
            for (int32_t i = 0; (p.y_step != 1) && (i < ${'count' if pixels == 1 else f'{pixels} * count'}); ++i) {
                to[(i / count * p.y_row) + (i % count * p.y_step)] = results[(i / count * panel) + (i % count)];
            }
        }
    }
}
