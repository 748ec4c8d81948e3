<%doc>
The assembler of a tap of four channels. Needs widen ("i8" or "u8"), multiplier (channels of the result for each of x: 1, 2 or
4), several (part of the name).
</%doc>\
<%
    pair, one = ("sxtb16", "sxtb") if widen == "i8" else ("uxtb16", "uxtb")
    load = {1: "ldr", 2: "ldrh", 4: "ldrsb" if widen == "i8" else "ldrb"}[multiplier]
    upper = "%[v]" if multiplier == 2 else "%[x]"
%>\
#include "dsp_halves.h"

#define TW_DSP_TAP_${widen.upper()}${several.upper()} ${"\\"}
    "ldr %[x], [%[at]], #4\n\t" ${"\\"}
    "${load} %[x], [%[base], %[x]]\n\t" ${"\\"}
    "ldr %[even], [%[w]], #4\n\t" ${"\\"}
% if multiplier < 4:
    "${pair if multiplier == 1 else one} %[v], %[x], ror #8\n\t" ${"\\"}
    "${pair if multiplier == 1 else one} %[x], %[x]\n\t" ${"\\"}
% endif
    "sxtb16 %[odd], %[even], ror #8\n\t" ${"\\"}
    "sxtb16 %[even], %[even]\n\t" ${"\\"}
    "smlabb %[s0], %[x], %[even], %[s0]\n\t" ${"\\"}
% if multiplier == 1:
    "smlabb %[s1], %[v], %[odd], %[s1]\n\t" ${"\\"}
    "smlatt %[s2], %[x], %[even], %[s2]\n\t" ${"\\"}
    "smlatt %[s3], %[v], %[odd], %[s3]\n\t"
% else:
    "smlabb %[s1], %[x], %[odd], %[s1]\n\t" ${"\\"}
    "smlabt %[s2], ${upper}, %[even], %[s2]\n\t" ${"\\"}
    "smlabt %[s3], ${upper}, %[odd], %[s3]\n\t"
% endif
