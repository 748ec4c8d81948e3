<%doc> Needs function, tile, block and results (names of functions), side, points, channels, turns, outputs, stored. </%doc>\
<% step = channels // 2 * 3 %>\
#include "dsp_winograd.h"

/* Tiles of ${side}x${side} results, three at a time, with two outputs at a time. The last tile of a row or column ends where
 * that does. */
TW_KERNEL void ${function}(const tw_dsp_winograd p, const uint8_t *x, const uint32_t *w, const int32_t *parameters,
        uint8_t *y, uint32_t *scratch)
{
    int32_t *const m = (int32_t *)(void *)(scratch + ${points * step});
    const int32_t across = (p.out_width + ${side - 1}) / ${side};
    const int32_t tiles = across * ((p.out_height + ${side - 1}) / ${side});
    for (int32_t first = 0; first < tiles; first += 3) {
        const int32_t count = ((tiles - first) < 3) ? (tiles - first) : 3;
        uint8_t *to[3];
        for (int32_t k = 0; k < count; ++k) {
            const int32_t line = (first + k) / across;
            const int32_t i = tw_dsp_tile_start(line, ${side}, p.out_height);
            const int32_t j = tw_dsp_tile_start((first + k) - (line * across), ${side}, p.out_width);
            to[k] = y + (i * p.y_row) + (j * ${outputs});
            ${tile}(&p, x, i - p.top, j - p.left, (uint8_t *)m, scratch + k);
        }
        for (int32_t o = 0; o < ${outputs}; o += 2) {
            ${block}(scratch, w + (o * ${points * channels // 2}), m, ${turns});
            ${results}(&p, m, count, to, parameters + (o * ${1 + stored}));
            for (int32_t k = 0; k < count; ++k) {
                to[k] += 2;
            }
        }
    }
}
