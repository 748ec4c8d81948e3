<%doc>
The assembler of the products of one result of a row of a depthwise 3x3, or of two. Needs stride (of columns). Registers
are those of TW_DSP_ROW_BEGIN.
</%doc>\
#include "dsp_row.h"

<%def name="line(instruction)">\
 ${"\\"}
    "${instruction}\n\t"\
</%def>\
#ifdef TW_DSP_ARM
#define TW_DSP_ROW_S${stride}_PRODUCTS\
${line("ldr r10, [sp]")}\
${line("ldrd r12, lr, [r0]")}\
% if stride == 1:
${line("mov r11, r10")}\
${line("smlad r10, r12, r4, r10")}\
${line("smlatb r11, r12, r4, r11")}\
${line("smlad r10, lr, r6, r10")}\
${line("smlatb r11, lr, r6, r11")}\
${line("ldrd r12, lr, [r0, #8]")}\
${line("smlad r10, r12, r8, r10")}\
${line("smlatb r11, r12, r8, r11")}\
${line("smlabt r10, lr, r5, r10")}\
${line("smlad r11, lr, r5, r11")}\
${line("ldrd r12, lr, [r0, #16]")}\
${line("smlabt r10, r12, r7, r10")}\
${line("smlad r11, r12, r7, r11")}\
${line("smlabt r10, lr, r9, r10")}\
${line("smlad r11, lr, r9, r11")}\
% else:
${line("smlad r10, r12, r4, r10")}\
${line("smlad r10, lr, r6, r10")}\
${line("ldrd r12, lr, [r0, #8]")}\
${line("smlad r10, r12, r8, r10")}\
${line("smlabt r10, lr, r5, r10")}\
${line("ldrd r12, lr, [r0, #16]")}\
${line("smlabt r10, r12, r7, r10")}\
${line("smlabt r10, lr, r9, r10")}\
% endif

#endif
