<%doc>
Needs widen ("i8" or "u8"; with "_apart" the second word is half of `apart` behind the first; with "_summed" the bytes
are added up, see dsp_nibbles.h).
</%doc>\
<%
    summed = widen.endswith("_summed")
    plain = widen.removesuffix("_summed")
    of, spread = plain.removesuffix("_apart"), plain.endswith("_apart")
    count_in = "        *sum = tw_dsp_sum_bytes(v" + (" ^ UINT32_C(0x80808080)" if of == "i8" else "") + ", *sum);\n" if summed else ""
    second = "apart / 2" if spread else "1"
%>\
#include "dsp.h"

/* `count` bytes become pairs of 16-bit halves (bytes 0 and 2, then 1 and 3), zero after the last; words to `to`,
 * two in every `apart`${", one in each half of it" if spread else ""}. */
TW_KERNEL uint32_t *tw_dsp_widen_${widen}(const uint8_t *x, int32_t count, uint32_t *to, int32_t apart\
${", uint32_t *sum" if summed else ""})
{
    const uint8_t *const end = x + (count & ~3);
    while (x != end) {
        const uint32_t v = tw_dsp_load(x);
        x += 4;
${count_in}\
        to[0] = tw_dsp_even_${of}(v);
        to[${second}] = tw_dsp_odd_${of}(v);
        to += apart;
    }
    if (count & 3) {
        const uint32_t v = (uint32_t)x[0] | ((count & 2) ? ((uint32_t)x[1] << 8) : 0)
            | (((count & 3) == 3) ? ((uint32_t)x[2] << 16) : 0);
${count_in}\
        to[0] = tw_dsp_even_${of}(v);
        to[${second}] = tw_dsp_odd_${of}(v);
        to += apart;
    }
    return to;
}
