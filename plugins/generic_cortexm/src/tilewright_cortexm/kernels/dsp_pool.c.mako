<%doc> Needs widen ("i8" or "u8"). </%doc>\
#include "dsp.h"

<%
    signed = widen == "i8"
%>\
/* The larger one of each pair of bytes. */
TW_KERNEL uint32_t tw_dsp_max_${widen}(uint32_t a, uint32_t b)
{
#ifdef TW_DSP_ARM
    uint32_t r;
    __asm__("${"ssub8" if signed else "usub8"} %0, %1, %2\n\tsel %0, %1, %2" : "=&r"(r) : "r"(a), "r"(b) : "cc");
    return r;
#else
    uint32_t r = 0;
    for (int32_t i = 0; i < 4; ++i) {
% if signed:
        const int32_t u = tw_dsp_byte(a, i);
        const int32_t v = tw_dsp_byte(b, i);
% else:
        const int32_t u = (int32_t)((a >> (8 * i)) & 255);
        const int32_t v = (int32_t)((b >> (8 * i)) & 255);
% endif
        r |= ((uint32_t)((u > v) ? u : v) & 255) << (8 * i);
    }
    return r;
#endif
}

/* Bytes 0 and 2, or 1 and 3, added to two sums of 16 bits. */
TW_KERNEL uint32_t tw_dsp_add_even_${widen}(uint32_t sums, uint32_t v)
{
#ifdef TW_DSP_ARM
    __asm__("${"sxtab16" if signed else "uxtab16"} %0, %0, %1" : "+r"(sums) : "r"(v));
    return sums;
#else
    const uint32_t x = tw_dsp_even_${widen}(v);
    return ((sums + x) & 65535) | ((sums & UINT32_C(0xffff0000)) + (x & UINT32_C(0xffff0000)));
#endif
}

TW_KERNEL uint32_t tw_dsp_add_odd_${widen}(uint32_t sums, uint32_t v)
{
#ifdef TW_DSP_ARM
    __asm__("${"sxtab16" if signed else "uxtab16"} %0, %0, %1, ror #8" : "+r"(sums) : "r"(v));
    return sums;
#else
    return tw_dsp_add_even_${widen}(sums, v >> 8);
#endif
}
