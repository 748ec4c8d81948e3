<%doc> Needs widen ("i8" or "u8"), stride (of columns), rows (name of the row function), fixed, exact, shift, low, high. </%doc>\
#ifndef TW_DSP_DEPTHWISE
#define TW_DSP_DEPTHWISE
typedef struct {
    int32_t width, height, channels; /* of x */
    int32_t out_width, out_height;
    int32_t row_stride, top, left;
    int32_t words; /* of one row of one channel in the ring */
    int32_t pad; /* value outside */
    int32_t above, zero_point; /* see tw_dsp_requant */
} tw_dsp_depthwise;
#endif
#ifndef TW_DSP_PLANES_${widen.upper()}
#define TW_DSP_PLANES_${widen.upper()}
/* Four channels of one pixel and of its right neighbour: a pair of halves for each channel's row. */
TW_KERNEL void tw_dsp_pair_${widen}(uint32_t one, uint32_t next, uint32_t *to, int32_t words)
{
    const uint32_t a = tw_dsp_even_${widen}(one), b = tw_dsp_odd_${widen}(one);
    const uint32_t c = tw_dsp_even_${widen}(next), d = tw_dsp_odd_${widen}(next);
    to[0] = tw_dsp_low(a, c);
    to[words] = tw_dsp_low(b, d);
    to[2 * words] = tw_dsp_high(a, c);
    to[3 * words] = tw_dsp_high(b, d);
}

/* One row of x, four channels, into four rows of the ring. The first pixel is the second of a pair where `left` is odd. */
static void tw_dsp_planes_${widen}(const tw_dsp_depthwise *p, const uint8_t *x, uint32_t pad, uint32_t *to)
{
    int32_t at = 0;
    to += p->left / 2;
    if (p->left & 1) {
        tw_dsp_pair_${widen}(pad, tw_dsp_load(x), to++, p->words);
        x += p->channels;
        at = 1;
    }
    for (; at + 2 <= p->width; at += 2) {
        tw_dsp_pair_${widen}(tw_dsp_load(x), tw_dsp_load(x + p->channels), to++, p->words);
        x += 2 * p->channels;
    }
    if (at < p->width) {
        tw_dsp_pair_${widen}(tw_dsp_load(x), pad, to, p->words);
    }
}

/* The three rows of weights of one channel, as pairs (0, 1) and (1, 2), and the first two rows again. */
TW_KERNEL void tw_dsp_taps(const uint8_t *w, uint32_t *to)
{
    for (int32_t k = 0; k < 3; ++k) {
        const uint32_t v = (uint32_t)w[3 * k] | (uint32_t)w[3 * k + 1] << 8 | (uint32_t)w[3 * k + 2] << 16;
        const uint32_t even = tw_dsp_even_i8(v), odd = tw_dsp_odd_i8(v);
        to[2 * k] = tw_dsp_low(even, odd);
        to[2 * k + 1] = tw_dsp_low(odd, even >> 16);
    }
    for (int32_t k = 0; k < 4; ++k) {
        to[6 + k] = to[k];
    }
}
#endif
#ifndef ${rows.upper()}
#define ${rows.upper()}
/* One row of one channel: `ring` has three rows of x, `apart` words between them, in the order of `w`. */
TW_KERNEL void ${rows}_form(const uint32_t *ring, int32_t apart, const uint32_t *w, int32_t bias, int32_t word,
        int32_t above, int32_t zero_point, uint8_t *y, int32_t y_step, int32_t count, int32_t exact)
{
    const uint32_t w0 = w[0], w1 = w[1], w2 = w[2], w3 = w[3], w4 = w[4], w5 = w[5];
% if stride == 1:
    for (; count > 0; count -= 2) {
        int32_t a = bias, b = bias;
        uint32_t x = ring[0], next = ring[1];
        a = tw_dsp_mlad(x, w0, a);
        b = tw_dsp_mlatb(x, w0, b);
        a = tw_dsp_mlabt(next, w1, a);
        b = tw_dsp_mlad(next, w1, b);
        x = ring[apart];
        next = ring[apart + 1];
        a = tw_dsp_mlad(x, w2, a);
        b = tw_dsp_mlatb(x, w2, b);
        a = tw_dsp_mlabt(next, w3, a);
        b = tw_dsp_mlad(next, w3, b);
        x = ring[2 * apart];
        next = ring[2 * apart + 1];
        a = tw_dsp_mlad(x, w4, a);
        b = tw_dsp_mlatb(x, w4, b);
        a = tw_dsp_mlabt(next, w5, a);
        b = tw_dsp_mlad(next, w5, b);
        ++ring;
        y[0] = (uint8_t)tw_dsp_requant_or(a, word, above, ${shift}, zero_point, ${low}, ${high}, exact);
        if (count > 1) {
            y[y_step] = (uint8_t)tw_dsp_requant_or(b, word, above, ${shift}, zero_point, ${low}, ${high}, exact);
        }
        y += 2 * y_step;
    }
% else:
    for (; count > 0; --count) {
        int32_t a = bias;
        a = tw_dsp_mlad(ring[0], w0, a);
        a = tw_dsp_mlabt(ring[1], w1, a);
        a = tw_dsp_mlad(ring[apart], w2, a);
        a = tw_dsp_mlabt(ring[apart + 1], w3, a);
        a = tw_dsp_mlad(ring[2 * apart], w4, a);
        a = tw_dsp_mlabt(ring[2 * apart + 1], w5, a);
        ++ring;
        y[0] = (uint8_t)tw_dsp_requant_or(a, word, above, ${shift}, zero_point, ${low}, ${high}, exact);
        y += y_step;
    }
% endif
}

static void ${rows}(const tw_dsp_depthwise *p, const uint32_t *ring, const uint32_t *w, const int32_t *parameters,
        uint8_t *y)
{
    const int32_t bias = parameters[0], word = parameters[1];
% if fixed and exact:
    if (word < 0) {
        ${rows}_form(ring, 4 * p->words, w, bias, word, p->above, p->zero_point, y, p->channels, p->out_width, 1);
        return;
    }
% endif
    ${rows}_form(ring, 4 * p->words, w, bias, word, p->above, p->zero_point, y, p->channels, p->out_width,
        ${0 if fixed else 1});
}
#endif
#ifndef TW_DSP_DEPTHWISE_${rows.upper()}
#define TW_DSP_DEPTHWISE_${rows.upper()}
/* Four channels at a time; the last four again where channels do not come out even. Input row r is in ring row r % 3. */
static void ${function}(const tw_dsp_depthwise p, const uint8_t *x, const uint8_t *w, const int32_t *parameters,
        uint8_t *y, uint32_t *scratch)
{
    const uint32_t pad = (uint32_t)p.pad * UINT32_C(0x01010101);
    uint32_t *const taps = scratch, *const ring = scratch + 40;
    for (int32_t group = 0; group < p.channels; group += 4) {
        const int32_t c = group + 4 <= p.channels ? group : p.channels - 4;
        for (int32_t i = 0; i < 4; ++i) {
            tw_dsp_taps(w + 9 * (c + i), taps + 10 * i);
        }
        for (int32_t i = 0; i < 12 * p.words; ++i) {
            ring[i] = tw_dsp_even_${widen}(pad);
        }
        int32_t loaded = 0, slot = 0; /* rows of x, from -top, and the next one's ring row */
        for (int32_t i = 0; i < p.out_height; ++i) {
            for (; loaded < i * p.row_stride + 3; ++loaded) {
                const int32_t row = loaded - p.top;
                uint32_t *const to = ring + slot * 4 * p.words;
                if (row >= 0 && row < p.height) {
                    tw_dsp_planes_${widen}(&p, x + row * p.width * p.channels + c, pad, to);
                } else if (row >= p.height) {
                    for (int32_t k = 0; k < 4 * p.words; ++k) {
                        to[k] = tw_dsp_even_${widen}(pad);
                    }
                }
                slot = slot == 2 ? 0 : slot + 1;
            }
            /* ring row `slot` holds the first of the three, `slot + 1` the second: row 0 of the ring is tap row -slot */
            const uint32_t *const first = taps + 2 * (slot == 0 ? 0 : 3 - slot);
            for (int32_t k = 0; k < 4; ++k) {
                ${rows}(&p, ring + k * p.words, first + 10 * k, parameters + 2 * (c + k),
                    y + i * p.out_width * p.channels + c + k);
            }
        }
    }
}
#endif
