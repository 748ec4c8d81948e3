#include "floor_shift.h"
#include "requant.h"
<%
    def fit(value):
        if rounding.overflow == "saturates":
            return f"{rounding.function}_fit({value})"
        return f"tw_wrapped({value}, {rounding.register})" if rounding.register < 64 else value
%>\
% if rounding.overflow == "saturates":
/* What a saturating register of ${rounding.register} bits holds. */
TW_KERNEL int64_t ${rounding.function}_fit(int64_t value)
{
    const int64_t most = (int64_t)((UINT64_C(1) << ${rounding.register - 1}) - 1);
    return (value < (-most - 1)) ? (-most - 1) : ((value > most) ? most : value);
}

% endif
/* (acc * multiplier + addend) >> shift in a register of ${rounding.register} bits, rounded ${rounding.halves}. Words: the \
multiplier, the
 * shift, and the addend, its lower half first. */
TW_KERNEL int32_t ${rounding.function}(int64_t acc, const int32_t *words, tw_requant p)
{
    const int32_t shift = words[1];
    const int64_t addend = ((int64_t)words[3] * (INT64_C(1) << 32)) + (int64_t)(uint32_t)words[2];
    const int64_t product = ${fit("acc * words[0]")};
    const int64_t sum = ${fit("product + addend")};
% if rounding.halves == "floor":
    const int64_t q = tw_floor_shift(sum, shift) + p.zero_point;
% else:
    const int64_t half = (shift > 0) ? (INT64_C(1) << ((shift > 0) ? (shift - 1) : 0)) : 0;
% if rounding.halves == "half-even":
    const int64_t even = ((half > 0) && ((tw_floor_shift(sum, shift) % 2) == 0)) ? 1 : 0;
    const int64_t q = tw_floor_shift(${fit("sum + half - even")}, shift) + p.zero_point;
% else:
    const int64_t q = tw_floor_shift(${fit("sum + half")}, shift) + p.zero_point;
% endif
% endif
    return (q < p.low) ? p.low : ((q > p.high) ? p.high : (int32_t)q);
}
