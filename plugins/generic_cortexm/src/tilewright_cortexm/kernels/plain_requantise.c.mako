<%doc> Needs requantise (the function's name), shifted and rounded (names of `narrow`), fixed, exact. </%doc>\
#include "dsp.h"

% if exact:
/* By the formula, which few channels need: not in every place that has it. */
static uint8_t ${requantise}_exact(int32_t acc, int32_t word, int32_t zero_point)
{
    return (uint8_t)${rounded}(tw_dsp_round(acc, word, zero_point));
}

% endif
/* An accumulator becomes a result, by the forms that occur; see tw_dsp_requant. */
TW_KERNEL uint8_t ${requantise}(int32_t acc, int32_t word, int32_t above, int32_t zero_point)
{
% if exact and fixed:
    return (word < 0) ? ${requantise}_exact(acc, word, zero_point) : (uint8_t)${shifted}(tw_dsp_mmla(acc, word, above));
% elif exact:
    (void)above;
    return ${requantise}_exact(acc, word, zero_point);
% else:
    (void)zero_point;
    return (uint8_t)${shifted}(tw_dsp_mmla(acc, word, above));
% endif
}
