<%doc>
One block of code for each use: the dot products of `pixels` columns with every `channels` rows of weights,
requantised and stored.
With `bytes_of` ("i8" or "u8") the values are bytes that are widened here.
Needs block, shape, end, pixels, channels, unroll, more, bytes_of, shift, low, high.
</%doc>\
#include "dsp_block.h"

#ifdef TW_DSP_ARM
TW_ASSEMBLER void ${block}(const tw_dsp_block *b __attribute__((unused)))
{
    __asm__ volatile(TW_DSP_${shape}_BEGIN
        ${" ".join([f"TW_DSP_{shape}_FOUR"] * unroll)}
        TW_DSP_${shape}_END_${end}(${shift}) ::: "memory");
}
#else
static void ${block}(const tw_dsp_block *b)
{
    ${products}(b, ${pixels}, ${channels}, ${shift}, ${low}, ${high});
}
#endif
