<%doc> Needs requantise (the function's name), shifted and rounded (names of `narrow`), fixed, exact. </%doc>\
#include "dsp.h"

/* An accumulator becomes a result, by the forms that occur; see tw_dsp_requant. */
TW_KERNEL uint8_t ${requantise}(int32_t acc, int32_t word, int32_t above, int32_t zero_point)
{
% if fixed and exact:
    return (uint8_t)((word < 0) ? ${rounded}(tw_dsp_round(acc, word, zero_point)) : ${shifted}(tw_dsp_mmla(acc, word, above)));
% elif fixed:
    (void)zero_point;
    return (uint8_t)${shifted}(tw_dsp_mmla(acc, word, above));
% else:
    (void)above;
    return (uint8_t)${rounded}(tw_dsp_round(acc, word, zero_point));
% endif
}
