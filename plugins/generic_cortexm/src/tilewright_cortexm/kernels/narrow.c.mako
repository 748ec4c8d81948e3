<%doc> Needs narrow (the function's name), narrow_shift, low, high. </%doc>\
<%
    full = (low, high) in ((-128, 127), (0, 255))
    right = f", asr #{narrow_shift}" if narrow_shift else ""
%>\
/* clamp(v${f" >> {narrow_shift}" if narrow_shift else ""}, ${low}, ${high})${", by one instruction where there is one" if full else ""} */
TW_KERNEL int32_t ${narrow}(int32_t v)
{
% if full:
#if defined(__ARM_FEATURE_SAT) && defined(__thumb2__)
    int32_t q;
    __asm__("${"ssat" if low < 0 else "usat"} %0, #8, %1${right}" : "=r"(q) : "r"(v));
    return q;
#else
% endif
    const int32_t q = v${f" >> {narrow_shift}" if narrow_shift else ""};
    return (q < ${low}) ? ${low} : ((q > ${high}) ? ${high} : q);
% if full:
#endif
% endif
}
