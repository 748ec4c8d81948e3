<%doc>
What a block is given, and how its columns are made. Needs widen ("i8", "u8", or "bytes" to leave them so).
</%doc>\
#ifndef TW_DSP_BLOCK
#define TW_DSP_BLOCK
typedef struct {
    const uint32_t *columns, *end; /* widened values, four of each column in turn */
    const uint32_t *w; /* four bytes of each channel of a block in turn */
    const int32_t *parameters; /* of each block: biases, then multipliers */
    uint8_t *y;
    int32_t apart; /* bytes between the results of neighbouring columns */
    int32_t blocks;
    int32_t above, zero_point; /* see tw_dsp_requant */
    int32_t more[3]; /* added to the sums of each column, where the columns differ */
} tw_dsp_block;
#endif
#ifndef TW_DSP_WIDEN_${widen.upper()}
#define TW_DSP_WIDEN_${widen.upper()}
% if widen == "bytes":
/* `count` bytes, and zeros up to the next four. */
TW_KERNEL uint32_t *tw_dsp_widen_bytes(const uint8_t *x, int32_t count, uint32_t *to, int32_t apart)
{
    to[(count - 1) / 4] = 0;
    memcpy(to, x, (size_t)count);
    return to + (count + 3) / 4 * apart;
}
% else:
/* `count` bytes become pairs of 16-bit halves (bytes 0 and 2, then 1 and 3), zero after the last; words to `to`,
 * two in every `apart`. */
TW_KERNEL uint32_t *tw_dsp_widen_${widen}(const uint8_t *x, int32_t count, uint32_t *to, int32_t apart)
{
    const uint8_t *const end = x + (count & ~3);
    while (x != end) {
        const uint32_t v = tw_dsp_load(x);
        x += 4;
        to[0] = tw_dsp_even_${widen}(v);
        to[1] = tw_dsp_odd_${widen}(v);
        to += apart;
    }
    if (count & 3) {
        const uint32_t v = (uint32_t)x[0] | ((count & 2) ? (uint32_t)x[1] << 8 : 0)
            | ((count & 3) == 3 ? (uint32_t)x[2] << 16 : 0);
        to[0] = tw_dsp_even_${widen}(v);
        to[1] = tw_dsp_odd_${widen}(v);
        to += apart;
    }
    return to;
}
% endif
#endif
