<%doc>
One row of four channels of a depthwise 3x3. Needs rows (the function's name), stride (of columns), end,
twice, shift, low, high.
</%doc>\
#include "dsp_row.h"

#ifdef TW_DSP_ARM
TW_ASSEMBLER void ${rows}(tw_dsp_row *b __attribute__((unused)))
{
    __asm__ volatile(TW_DSP_ROW_S${stride}_${end}(${shift}) ::: "memory");
}
#else
static void ${rows}(tw_dsp_row *b)
{
    tw_dsp_row_s${stride}${'_twice' if twice else ''}(b, ${shift}, ${low}, ${high});
}
#endif
