<%doc> The assembler of a tap of four channels and four outputs. Needs widen ("i8" or "u8"). </%doc>\
<% pair = "sxtb16" if widen == "i8" else "uxtb16" %>\
#include "dsp_halves.h"

#define TW_DSP_GROUP_TAP_${widen.upper()} ${"\\"}
    "ldr %[x], [%[at]], #4\n\t" ${"\\"}
    "ldr %[x], [%[base], %[x]]\n\t" ${"\\"}
    "${pair} %[v], %[x], ror #8\n\t" ${"\\"}
    "${pair} %[x], %[x]\n\t"\
% for c in range(4):
 ${"\\"}
    "ldr %[even], [%[w]], #4\n\t" ${"\\"}
    "sxtb16 %[odd], %[even], ror #8\n\t" ${"\\"}
    "sxtb16 %[even], %[even]\n\t" ${"\\"}
    "smlad %[s${c}], %[x], %[even], %[s${c}]\n\t" ${"\\"}
    "smlad %[s${c}], %[v], %[odd], %[s${c}]\n\t"\
% endfor

