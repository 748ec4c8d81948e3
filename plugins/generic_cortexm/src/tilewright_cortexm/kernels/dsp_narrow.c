<%doc>
A function `name` that is clamp(v >> shift, low, high), by one instruction where the limits are those of a type.
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
