<%doc> Needs widen ("i8" or "u8"), stride (of columns), rows (name of the row function). </%doc>\
#ifndef TW_DSP_PLANES_${widen.upper()}
#define TW_DSP_PLANES_${widen.upper()}
/* Four channels of one pixel and of its right neighbour: a pair of halves for each channel's row. */
TW_KERNEL void tw_dsp_pair_${widen}(uint32_t one, uint32_t next, uint32_t *to, int32_t words)
{
    const uint32_t a = tw_dsp_even_${widen}(one), b = tw_dsp_odd_${widen}(one);
    const uint32_t c = tw_dsp_even_${widen}(next), d = tw_dsp_odd_${widen}(next);
    to[0] = tw_dsp_low(a, c);
    to[3 * words] = tw_dsp_low(b, d);
    to[6 * words] = tw_dsp_high(a, c);
    to[9 * words] = tw_dsp_high(b, d);
}

/* One row of x, four channels, into the rings of each. The first pixel is the second of a pair where `left` is odd. */
static void tw_dsp_planes_${widen}(const tw_depthwise *p, const uint8_t *x, uint32_t pad, uint32_t *to, int32_t words)
{
    int32_t at = 0;
    to += p->left / 2 * 3;
    if (p->left & 1) {
        tw_dsp_pair_${widen}(pad, tw_dsp_load(x), to, words);
        to += 3;
        x += p->channels;
        at = 1;
    }
    for (; at + 2 <= p->width; at += 2) {
        tw_dsp_pair_${widen}(tw_dsp_load(x), tw_dsp_load(x + p->channels), to, words);
        to += 3;
        x += 2 * p->channels;
    }
    if (at < p->width) {
        tw_dsp_pair_${widen}(tw_dsp_load(x), pad, to, words);
    }
}

#endif
#ifndef TW_DSP_TAPS
#define TW_DSP_TAPS
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
#ifndef TW_DSP_DEPTHWISE_${rows.upper()}
#define TW_DSP_DEPTHWISE_${rows.upper()}
/* Four channels at a time; the last four again where channels do not come out even. Input row r is in slot r % 3. */
static void ${function}(const tw_depthwise p, const uint8_t *x, const uint8_t *w, const int32_t *parameters,
        uint8_t *y, void *scratch, int32_t words, int32_t above, int32_t zero_point)
{
    const uint32_t pad = (uint32_t)p.pad * UINT32_C(0x01010101);
    uint32_t *const taps = scratch, *const ring = taps + 40;
    for (int32_t group = 0; group < p.channels; group += 4) {
        const int32_t c = group + 4 <= p.channels ? group : p.channels - 4;
        for (int32_t i = 0; i < 4; ++i) {
            tw_dsp_taps(w + 9 * (c + i), taps + 10 * i);
        }
        for (int32_t i = 0; i < 12 * words; ++i) {
            ring[i] = tw_dsp_even_${widen}(pad);
        }
        int32_t loaded = 0, slot = 0; /* rows of x, from -top, and the next one's slot */
        for (int32_t i = 0; i < p.out_height; ++i) {
            for (; loaded < i * p.row_stride + 3; ++loaded) {
                const int32_t row = loaded - p.top;
                uint32_t *const to = ring + slot;
                if (row >= 0 && row < p.height) {
                    tw_dsp_planes_${widen}(&p, x + row * p.width * p.channels + c, pad, to, words);
                } else if (row >= p.height) {
                    for (int32_t k = 0; k < 4 * words; ++k) {
                        to[3 * k] = tw_dsp_even_${widen}(pad);
                    }
                }
                slot = slot == 2 ? 0 : slot + 1;
            }
            /* slot `slot` holds the first of the three, `slot + 1` the second: slot 0 is tap row -slot */
            tw_dsp_row row = {.ring = ring, .taps = taps + 2 * (slot == 0 ? 0 : 3 - slot),
                .parameters = parameters + 2 * c, .y = y + i * p.out_width * p.channels + c, .apart = 12 * words,
                .bytes = ${"p.out_width / 2 * 12" if stride == 1 else "p.out_width * 12"},
                .odd = ${"-(p.out_width & 1)" if stride == 1 else 0}, .above = above, .zero_point = zero_point,
                .y_step = p.channels};
            ${rows}(&row);
        }
    }
}
#endif
