<%doc>
Needs function, types, loads, one_value (inputs with one element in a row), vector, shift, ties, low, high.
</%doc>\
#include "mve.h"

<%
    full = (low, high) in ((-128, 127), (0, 255))
    narrow = "vqmovnb.s16" if low < 0 else "vqmovunb.s16"
    read = [name for name in "ab" if name not in one_value]
    more = f', [half] "r"({(1 << shift >> 1) - 1})' if ties else ""
    more += "" if full else f', [low] "r"({low}), [high] "r"({high})'
    start = "offset" + "".join(f" + *{name} * {name}_factor" for name in one_value)
%>\
<%def name="line(text)">\
        "${text}\n\t"
</%def>\
/* y = clamp(((a * a_factor + b * b_factor + offset) >> shift) + zero_point)
 * ${"with halves to the even neighbour; " if ties else ""}see QAdd. */
TW_KERNEL void ${function}(int32_t count, int32_t a_step, int32_t b_step, int32_t y_step,
        const ${types["a"]} *a, const ${types["b"]} *b, ${types["y"]} *y,
        int32_t a_factor, int32_t b_factor, int32_t offset, int32_t zero_point)
{
    const int32_t start = ${start};
% if vector:
#ifdef TW_MVE_ARM
    __asm__ volatile(
${line("vdup.32 q2, %[start]")}\
% if not full:
${line("vdup.32 q3, %[low]")}\
${line("vdup.32 q4, %[high]")}\
% endif
${line("wlstp.32 lr, %[count], 2f")}\
${line("1:")}\
${line("vmov q0, q2")}\
% for name in read:
${line(f"vldrb.{loads[name]} q1, [%[{name}]], #4")}\
${line(f"vmla.s32 q0, q1, %[{name}_factor]")}\
% endfor
% if ties:
${line(f"vshl.i32 q1, q0, #{31 - shift}")}\
${line("vshr.u32 q1, q1, #31")}\
${line("vadd.i32 q0, q0, q1")}\
${line("vadd.i32 q0, q0, %[half]")}\
% endif
% if shift:
${line(f"vshr.s32 q0, q0, #{shift}")}\
% endif
${line("vadd.i32 q0, q0, %[zero_point]")}\
% if full:
${line("vqmovnb.s32 q0, q0")}\
${line(f"{narrow} q0, q0")}\
% else:
${line("vmax.s32 q0, q0, q3")}\
${line("vmin.s32 q0, q0, q4")}\
% endif
${line("vstrb.32 q0, [%[y]], #4")}\
${line("letp lr, 1b")}\
        "2:"
        : [a] "+&l"(a), [b] "+&l"(b), [y] "+&l"(y)
        : [count] "r"(count), [a_factor] "r"(a_factor), [b_factor] "r"(b_factor), [start] "r"(start),
          [zero_point] "r"(zero_point)${more}
        : "lr", "q0", "q1", "q2",${'' if full else ' "q3", "q4",'} "cc", "memory");
    (void)a_step;
    (void)b_step;
    (void)y_step;
#else
% endif
    for (int32_t i = 0; i < count; ++i) {
        int32_t v = ${" + ".join(("start", *(f"{name}[i * {name}_step] * {name}_factor" for name in read)))};
% if ties:
        v += ${(1 << shift >> 1) - 1} + ((v >> ${shift}) & 1);
% endif
        v = (v >> ${shift}) + zero_point;
        y[i * y_step] = (${types["y"]})((v < ${low}) ? ${low} : ((v > ${high}) ? ${high} : v));
    }
% if vector:
#endif
% endif
% for name in one_value:
    (void)${name}_step;
% endfor
}
