<%doc> Needs function, widen ("i8" or "u8", of A), stored (words of a column beside its bias), blocks: of two columns and of one. </%doc>\
#include "dsp_block.h"
#include "dsp_panel.h"

/* `panel` columns at a time, three rows at a time, the last ones again where they do not come out even. */
static void ${function}(const tw_arm_matmul p, const uint8_t *a, const uint8_t *b, uint8_t *y, void *scratch,
        int32_t panel, int32_t word, int32_t above, int32_t last)
{
    const int32_t words[3] = {word, above, last};
    const int32_t groups = (p.depth + 3) / 4;
    uint32_t *const columns = scratch;
    uint32_t *const end = columns + (6 * groups);
    uint32_t *const w = end;
    int32_t *const parameters = (int32_t *)(w + (panel * groups));
    uint8_t *const bytes = (uint8_t *)(parameters + (${stored + 1} * panel));
    uint8_t *const results = bytes + (4 * groups);
    for (int32_t first = 0; first < p.columns; first += panel) {
        const int32_t count = ((p.columns - first) < panel) ? (p.columns - first) : panel;
        tw_dsp_panel(&p, b + (first * p.b_column), count, words, ${stored}, w, parameters);
        for (int32_t row = 0; row < p.rows; row += 3) {
            const int32_t at = (row <= (p.rows - 3)) ? row : (p.rows - 3);
            uint8_t *const to = y + (at * p.y_row) + (first * p.y_step);
            tw_dsp_block c = {.columns = columns, .end = end, .w = w, .parameters = parameters,
                .y = (p.y_step == 1) ? to : results, .apart = (p.y_step == 1) ? p.y_row : panel, .blocks = count / 2,
                .above = above, .zero_point = last};
            for (int32_t j = 0; j < 3; ++j) {
                c.more[j] = tw_dsp_row_${widen}(&p, a, at + j, columns + (2 * j), 6, bytes);
            }
            if (c.blocks) {
                ${blocks[0]["block"]}(&c);
            }
            if (count & 1) {
                c.w = w + ((count - 1) * groups);
                c.parameters = parameters + (${stored + 1} * (count - 1));
                c.y += count - 1;
                c.blocks = 1;
                ${blocks[1]["block"]}(&c);
            }
            for (int32_t i = 0; (p.y_step != 1) && (i < (3 * count)); ++i) {
                to[(i / count * p.y_row) + (i % count * p.y_step)] = results[(i / count * panel) + (i % count)];
            }
        }
    }
}
