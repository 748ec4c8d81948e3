<%doc>
Needs limit: "i16" where sums are scaled in float32, "shift_i16" where they are multiplied and shifted.
</%doc>\
#include "words.h"

% if limit == "shift_i16":
/* The upper half of the sum times a multiplier, the word's lower half, is rounded and shifted by the word's upper. */
TW_KERNEL int16_t tw_xp_finished_${limit}(int32_t acc, int32_t word, tw_xp_limits to)
{
    const int32_t shift = word >> 16;
    const int32_t sum = tw_xp_high(acc, (word & 0xffff) << 16) + (INT32_C(1) << (shift - 1));
    return (int16_t)tw_xp_limited(tw_xp_sra(sum, shift) + to.zero_point, to.low, to.high);
}
% else:
/* clamp(rne(acc * scale)) + zero_point, limits less the zero point. */
TW_KERNEL int16_t tw_xp_finished_${limit}(int32_t acc, float scale, tw_xp_limits to)
{
    return (int16_t)(tw_xp_rounded((float)acc * scale, to.low, to.high) + to.zero_point);
}
% endif
<% word = "b[{}]" if limit == "shift_i16" else "tw_xp_scale(b + {})" %>\

/* Four channels of `pixels` pixels, 1 or 2, or the first `count` of them. `b` holds four biases, then what finishes
 * four sums; y0 and y1 are places of values of 16 bits. */
TW_KERNEL void tw_xp_finish_${limit}(int32_t pixels, const int32_t *acc, const int32_t *b, int32_t count,
        tw_xp_limits to, uint8_t *y0, uint8_t *y1)
{
    int16_t *const to0 = (int16_t *)(void *)y0;
    int16_t *const to1 = (int16_t *)(void *)y1;
% for j in range(4):
% if j:
    if (count == ${j}) { /* no index into acc is a variable: it stays in registers */
        return;
    }
% endif
    to0[${j}] = tw_xp_finished_${limit}(acc[${j}], ${word.format(4 + j)}, to);
    if (pixels == 2) {
        to1[${j}] = tw_xp_finished_${limit}(acc[${4 + j}], ${word.format(4 + j)}, to);
    }
% endfor
}
