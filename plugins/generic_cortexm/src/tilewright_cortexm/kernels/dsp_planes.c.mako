<%doc> Needs widen ("i8" or "u8"), planes (the function's name), slots (rows in a ring). </%doc>\
#include "depthwise.h"
#include "dsp.h"

/* Four channels of one pixel and of its right neighbour: a pair of halves for each channel's row. */
TW_KERNEL void ${planes}_pair(uint32_t one, uint32_t next, uint32_t *to, int32_t words)
{
    const uint32_t a = tw_dsp_even_${widen}(one);
    const uint32_t b = tw_dsp_odd_${widen}(one);
    const uint32_t c = tw_dsp_even_${widen}(next);
    const uint32_t d = tw_dsp_odd_${widen}(next);
    to[0] = tw_dsp_low(a, c);
    to[${slots} * words] = tw_dsp_low(b, d);
    to[${2 * slots} * words] = tw_dsp_high(a, c);
    to[${3 * slots} * words] = tw_dsp_high(b, d);
}

/* One row of x, four channels, into the rings of each. The first pixel is the second of a pair where `left` is odd. */
static void ${planes}(const tw_depthwise *p, const uint8_t *x, int32_t x_step, uint32_t pad, uint32_t *to,
        int32_t words)
{
    int32_t at = 0;
    to += p->left / 2 * ${slots};
    if (p->left & 1) {
        ${planes}_pair(pad, tw_dsp_load(x), to, words);
        to += ${slots};
        x += x_step;
        at = 1;
    }
    for (; (at + 2) <= p->width; at += 2) {
        ${planes}_pair(tw_dsp_load(x), tw_dsp_load(x + x_step), to, words);
        to += ${slots};
        x += 2 * x_step;
    }
    if (at < p->width) {
        ${planes}_pair(tw_dsp_load(x), pad, to, words);
    }
}
