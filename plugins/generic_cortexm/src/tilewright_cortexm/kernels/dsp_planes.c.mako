<%doc> Needs widen ("i8" or "u8"), planes (the function's name), slots (rows in a ring), together (channels: 2 to 4). </%doc>\
#include "depthwise.h"
#include "dsp.h"

<%
    load = "tw_dsp_load" if together == 4 else f"{planes}_load"
%>\
% if together < 4:
/* The channels of one pixel; what follows may be no memory. */
TW_KERNEL uint32_t ${planes}_load(const uint8_t *x)
{
    return x[0] | ((uint32_t)x[1] << 8)${" | ((uint32_t)x[2] << 16)" if together > 2 else ""};
}

% endif
/* The channels of one pixel and of its right neighbour: a pair of halves for each channel's row. */
TW_KERNEL void ${planes}_pair(uint32_t one, uint32_t next, uint32_t *to, int32_t words)
{
    const uint32_t a = tw_dsp_even_${widen}(one);
    const uint32_t b = tw_dsp_odd_${widen}(one);
    const uint32_t c = tw_dsp_even_${widen}(next);
    const uint32_t d = tw_dsp_odd_${widen}(next);
    to[0] = tw_dsp_low(a, c);
    to[${slots} * words] = tw_dsp_low(b, d);
% if together > 2:
    to[${2 * slots} * words] = tw_dsp_high(a, c);
% endif
% if together > 3:
    to[${3 * slots} * words] = tw_dsp_high(b, d);
% endif
}

/* One row of x, these channels, into the rings of each. The first pixel is the second of a pair where `left` is odd. */
static void ${planes}(const tw_depthwise *p, const uint8_t *x, int32_t x_step, uint32_t pad, uint32_t *to,
        int32_t words)
{
    int32_t at = 0;
    to += p->left / 2 * ${slots};
    if (p->left & 1) {
        ${planes}_pair(pad, ${load}(x), to, words);
        to += ${slots};
        x += x_step;
        at = 1;
    }
    for (; (at + 2) <= p->width; at += 2) {
        ${planes}_pair(${load}(x), ${load}(x + x_step), to, words);
        to += ${slots};
        x += 2 * x_step;
    }
    if (at < p->width) {
        ${planes}_pair(${load}(x), pad, to, words);
    }
}
