<%doc> Needs function, twice, widen ("i8" or "u8"), stride (of columns), together (channels
at a time). </%doc>\
#include "depthwise.h"
#include "dsp_row.h"
#include "dsp_row_taps.h"

/* ${together} channels at a time; where they do not come out even, the last ones are taken apart with some that were
 * computed before. Input row r is in slot r % 3. Results may take the bytes of x that they are computed from.
 * `x_step` and `y_step` are bytes between neighbours of a row; `computed` is what computes a row. */
static void ${function}(const tw_depthwise p, const uint8_t *x, const uint8_t *w, const int32_t *parameters,
        uint8_t *y, void *scratch, int32_t x_step, int32_t y_step, int32_t words, int32_t above, int32_t zero_point,
        tw_dsp_row_of *computed)
{
    const uint32_t pad = (uint32_t)p.pad * UINT32_C(0x01010101);
    uint32_t *const taps = scratch;
    uint32_t *const ring = taps + 40;
    for (int32_t i = 0; i < (12 * words); ++i) { /* columns outside stay what they are */
        ring[i] = tw_dsp_even_${widen}(pad);
    }
    tw_dsp_row row = {.apart = 12 * words, .bytes = ${"p.out_width / 2 * 12" if stride == 1 else "p.out_width * 12"},
        .odd = ${"-(p.out_width & 1)" if stride == 1 else 0}, .above = above, .zero_point = zero_point, .y_step = y_step};
    for (int32_t group = 0; group < p.channels; group += ${together}) {
        const int32_t c = ((group + ${together}) <= p.channels) ? group : (p.channels - ${together});
        const int32_t before = group - c;
        for (int32_t i = 0; i < ${together}; ++i) {
            tw_dsp_taps(w + (9 * (c + i)), taps + (10 * i));
        }
        /* rows of x, from -top, and the next one's slot */
        int32_t loaded = 0;
        int32_t slot = 0;
        for (int32_t i = 0; i < p.out_height; ++i) {
            for (; loaded < ((i * p.row_stride) + 3); ++loaded) {
                const int32_t line = loaded - p.top;
                uint32_t *const to = ring + slot;
                if ((line >= 0) && (line < p.height)) {
                    ${planes}(&p, x + (line * p.x_row) + c, x_step, pad, to, words);
                } else {
                    for (int32_t k = 0; k < (4 * words); ++k) {
                        to[3 * k] = tw_dsp_even_${widen}(pad);
                    }
                }
                slot = (slot == 2) ? 0 : (slot + 1);
            }
            /* slot `slot` holds the first of the three, `slot + 1` the second: slot 0 is tap row -slot */
            row.ring = ring + (3 * before * words);
            row.taps = taps + (10 * before) + (2 * ((slot == 0) ? 0 : (3 - slot)));
            row.parameters = parameters + (${4 if twice else 2} * group);
            row.y = y + (i * p.y_row) + group;
            row.channels = ${together} - before;
            computed(&row);
        }
    }
}
