<%doc>
One block of code for each use: `channels` of one pixel. Needs block, of, end, channels, widen ("s16" or "u16"), taps, unroll
and trips, of which they are the product, suffix, several, low, high.
</%doc>\
#include "mve.h"
#include "mve_pixel.h"

#ifdef TW_MVE_ARM
TW_ASSEMBLER void ${block}(const tw_mve_pixel *b __attribute__((unused)))
{
    __asm__ volatile(
        TW_MVE_${of}_BEGIN(${channels})
% if trips > 1:
        "mov r12, r1\n\t"
        "mov lr, #${trips}\n\t"
        "dls lr, lr\n\t"
        "2:\n\t"
% endif
% for tap in range(unroll):
        TW_MVE_${of}_TAP(${channels}, ${'"[r12], #4"' if trips > 1 else f'"[r1, #{4 * tap}]"'})
% endfor
% if trips > 1:
        "le lr, 2b\n\t"
% endif
        TW_MVE_${of}_END_${end} ::: "memory");
}
#else
static void ${block}(const tw_mve_pixel *b)
{
    tw_mve_pixel_${widen}${several}${suffix}(b, ${channels}, ${taps}, ${low}, ${high});
}
#endif
