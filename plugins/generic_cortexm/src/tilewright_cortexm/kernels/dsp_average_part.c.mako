<%doc>
Needs function, widen ("i8" or "u8", of x), requantise.
</%doc>\
#include "dsp.h"

/* Sums of every channel over `pixels` more of the image, four channels at a time, kept in `acc`; with the last of them
 * the mean. A sum of 16 bits holds 255 values. */
TW_KERNEL void ${function}(const uint8_t *x, uint8_t *y, int32_t *acc, int32_t pixels, int32_t channels, int32_t first,
        int32_t last, int32_t zeros, int32_t word, int32_t above, int32_t zero_point)
{
    for (int32_t c = 0; c < channels; c += 4) {
        const uint8_t *at = x + c;
        int32_t *const sums = acc + c;
        if (first) {
            sums[0] = sums[1] = sums[2] = sums[3] = -zeros;
        }
        for (int32_t left = pixels; left > 0;) {
            uint32_t even = 0;
            uint32_t odd = 0;
            const int32_t rest = (left > 255) ? (left - 255) : 0;
            for (; left > rest; --left) {
                const uint32_t v = tw_dsp_load(at);
                even = tw_dsp_add_even_${widen}(even, v);
                odd = tw_dsp_add_odd_${widen}(odd, v);
                at += channels;
            }
% for at, source in enumerate(("even", "odd", "even >> 16", "odd >> 16")):
            sums[${at}] += ${f"(int16_t)({source})" if widen == "i8" else f"(int32_t)(({source}) & 65535)"};
% endfor
        }
        if (last) {
            for (int32_t k = 0; k < 4; ++k) {
                y[c + k] = ${requantise}(sums[k], word, above, zero_point);
            }
        }
    }
}
