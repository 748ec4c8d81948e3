<%doc> The assembler of a tap of four channels. Needs widen ("i8" or "u8"). </%doc>\
#include "dsp_halves.h"

#define TW_DSP_TAP_${widen.upper()} ${"\\"}
    "ldr %[x], [%[at]], #4\n\t" ${"\\"}
    "ldr %[x], [%[base], %[x]]\n\t" ${"\\"}
    "ldr %[even], [%[w]], #4\n\t" ${"\\"}
    "${'sxtb16' if widen == 'i8' else 'uxtb16'} %[v], %[x], ror #8\n\t" ${"\\"}
    "${'sxtb16' if widen == 'i8' else 'uxtb16'} %[x], %[x]\n\t" ${"\\"}
    "sxtb16 %[odd], %[even], ror #8\n\t" ${"\\"}
    "sxtb16 %[even], %[even]\n\t" ${"\\"}
    "smlabb %[s0], %[x], %[even], %[s0]\n\t" ${"\\"}
    "smlabb %[s1], %[v], %[odd], %[s1]\n\t" ${"\\"}
    "smlatt %[s2], %[x], %[even], %[s2]\n\t" ${"\\"}
    "smlatt %[s3], %[v], %[odd], %[s3]\n\t"
