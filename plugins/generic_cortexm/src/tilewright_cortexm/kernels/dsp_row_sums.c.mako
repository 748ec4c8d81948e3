<%doc> What one row of up to four channels of a depthwise 3x3 is, in C. Needs stride (of columns), twice. </%doc>\
#include "dsp_row.h"

#ifndef TW_DSP_ARM
TW_KERNEL void tw_dsp_row_s${stride}${'_twice' if twice else ''}(const tw_dsp_row *b, int32_t shift, int32_t low, int32_t high)
{
    const int32_t count = (b->bytes / ${6 if stride == 1 else 12}) + (b->odd ? 1 : 0);
    for (int32_t c = 0; c < b->channels; ++c) {
        const uint32_t *const ring = b->ring + (c * (b->apart / 4));
        const uint32_t *const w = b->taps + (10 * c);
        const int32_t *const p = b->parameters + (${4 if twice else 2} * c);
        for (int32_t i = 0; i < count; ++i) {
            int32_t sum = p[0];
            for (int32_t k = 0; k < 3; ++k) {
% if stride == 1:
                const uint32_t x = ring[(i / 2 * 3) + k];
                const uint32_t next = ring[(i / 2 * 3) + 3 + k];
                sum = (i % 2) ? tw_dsp_mlatb(x, w[2 * k], sum) : tw_dsp_mlad(x, w[2 * k], sum);
                sum = (i % 2) ? tw_dsp_mlad(next, w[(2 * k) + 1], sum) : tw_dsp_mlabt(next, w[(2 * k) + 1], sum);
% else:
                sum = tw_dsp_mlad(ring[(3 * i) + k], w[2 * k], sum);
                sum = tw_dsp_mlabt(ring[(3 * i) + 3 + k], w[(2 * k) + 1], sum);
% endif
            }
% if twice:
            b->y[(i * b->y_step) + c] = (uint8_t)tw_dsp_requant_twice(sum, p[1], p[2], p[3], shift, low, high);
% else:
            b->y[(i * b->y_step) + c] = (uint8_t)tw_dsp_requant(sum, p[1], b->above, shift, b->zero_point, low, high);
% endif
        }
    }
}
#endif
