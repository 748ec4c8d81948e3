<%doc>
`narrower`: a function that is clamp(v >> shift, low, high), by one instruction where the limits are those of a type.
`requantiser`: a function that makes a result of an accumulator, by the forms that occur; see tw_dsp_requant.
</%doc>\
<%def name="narrower(name, shift, low, high)">\
<%
    full = (low, high) in ((-128, 127), (0, 255))
    right = f", asr #{shift}" if shift else ""
%>\
#ifndef ${name.upper()}
#define ${name.upper()}
TW_KERNEL int32_t ${name}(int32_t v)
{
% if full:
#if defined(__ARM_FEATURE_DSP) && defined(__thumb2__)
    int32_t q;
    __asm__("${"ssat" if low < 0 else "usat"} %0, #8, %1${right}" : "=r"(q) : "r"(v));
    return q;
#else
% endif
% if shift:
    const int32_t q = v >> ${shift};
% else:
    const int32_t q = v;
% endif
    return q < ${low} ? ${low} : (q > ${high} ? ${high} : q);
% if full:
#endif
% endif
}
#endif
</%def>\
<%def name="requantiser(name, fixed, exact, shift, low, high)">\
% if fixed:
${narrower(f"{name}_shifted", shift, low, high)}\
% endif
% if exact:
${narrower(f"{name}_rounded", 0, low, high)}\
% endif
TW_KERNEL uint8_t ${name}(int32_t acc, int32_t word, int32_t above, int32_t zero_point)
{
% if fixed and exact:
    return (uint8_t)(word < 0 ? ${name}_rounded(tw_dsp_round(acc, word, zero_point))
        : ${name}_shifted(tw_dsp_mmla(acc, word, above)));
% elif fixed:
    (void)zero_point;
    return (uint8_t)${name}_shifted(tw_dsp_mmla(acc, word, above));
% else:
    (void)above;
    return (uint8_t)${name}_rounded(tw_dsp_round(acc, word, zero_point));
% endif
}
</%def>\
