<%doc> Needs function, types, loads, one_value (inputs with one element in a row), vector, low, high. </%doc>\
#include "mve.h"

<%
    full = (low, high) in ((-128, 127), (0, 255))
    narrow = "vqmovnb.s16" if low < 0 else "vqmovunb.s16"
    each = "({name}[i * {name}_step] - {name}_zero_point)"
    factor = {name: f"{name}_one" if name in one_value else each.format(name=name) for name in "ab"}
    used = [f"{name}_one" if name in one_value else f"{name}_zero_point" for name in "ab"]
    used += [] if full else ["low", "high"]
    more = "".join(f', [{name}] "r"({ {"low": low, "high": high}.get(name, name)})' for name in used)
%>\
<%def name="line(text)">\
        "${text}\n\t"
</%def>\
/* Only loads and stores are predicated: of a pair of halves, both must be multiplied and narrowed.
 * y = requant((a - a_zero_point) * (b - b_zero_point)), by the formula itself; see QMul. */
TW_KERNEL void ${function}(int32_t count, int32_t a_step, int32_t b_step, int32_t y_step,
        const ${types["a"]} *a, const ${types["b"]} *b, ${types["y"]} *y,
        int32_t a_zero_point, int32_t b_zero_point, int32_t scale, int32_t zero_point)
{
% for name in one_value:
    const int32_t ${name}_one = *${name} - ${name}_zero_point;
% endfor
% if vector:
#ifdef TW_MVE_ARM
    __asm__ volatile(
% for q, name in enumerate("ab"):
% if name in one_value:
${line(f"vdup.16 q{q}, %[{name}_one]")}\
% endif
% endfor
% if not full:
${line("vdup.16 q4, %[low]")}\
${line("vdup.16 q5, %[high]")}\
% endif
${line("wls lr, %[turns], 2f")}\
${line("1:")}\
${line("vctp.16 %[count]")}\
% for q, name in enumerate("ab"):
% if name not in one_value:
${line("vpst")}\
${line(f"vldrbt.{loads[name]} q{q}, [%[{name}]], #8")}\
${line(f"vsub.i16 q{q}, q{q}, %[{name}_zero_point]")}\
% endif
% endfor
${line("vmullb.s16 q2, q0, q1")}\
${line("vmullt.s16 q3, q0, q1")}\
% for text in ("vcvt.f32.s32 {q}, {q}", "vmul.f32 {q}, {q}, %[scale]", "vcvtn.s32.f32 {q}, {q}"):
% for q in ("q2", "q3"):
${line(text.replace("{q}", q))}\
% endfor
% endfor
${line("vqmovnb.s32 q2, q2")}\
${line("vqmovnt.s32 q2, q3")}\
${line("vqadd.s16 q2, q2, %[zero_point]")}\
% if full:
${line(f"{narrow} q2, q2")}\
% else:
${line("vmax.s16 q2, q2, q4")}\
${line("vmin.s16 q2, q2, q5")}\
% endif
${line("vpst")}\
${line("vstrbt.16 q2, [%[y]], #8")}\
${line("sub %[count], %[count], #8")}\
${line("le lr, 1b")}\
        "2:"
        : [a] "+&l"(a), [b] "+&l"(b), [y] "+&l"(y), [count] "+&r"(count)
        : [turns] "r"((count + 7) / 8), [scale] "r"(scale), [zero_point] "r"(zero_point)${more}
        : "lr", "q0", "q1", "q2", "q3",${'' if full else ' "q4", "q5",'} "cc", "memory");
    (void)a_step;
    (void)b_step;
    (void)y_step;
#else
% endif
    for (int32_t i = 0; i < count; ++i) {
        float factor;
        memcpy(&factor, &scale, sizeof factor);
        y[i * y_step] = (${types["y"]})tw_mve_requant(${factor["a"]} * ${factor["b"]}, factor, zero_point, ${low},
            ${high});
    }
% if vector:
#endif
% endif
% for name in one_value:
    (void)${name}_step;
% endfor
}
