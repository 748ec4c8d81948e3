<%doc>
Needs function, added (or multiplied), types, loads, stores, one_value (inputs with one element in a row), vector, zeros (of
A and B that are not 0), rights (shifts to the right: of A, B and the result), lift, minus, low, high, narrow.
</%doc>\
#include "mve.h"
#include "mve_twice.h"

<%
    read = [name for name in "ab" if name not in one_value]
    register = {"a": "q0", "b": "q1"}
    given = [f"{name}_zero_point" for name in read if name in zeros]
    given += [f"{name}_one" for name in one_value] + ([f"{name}_multiplier" for name in read] if added else [])
    more = "".join(f', [{name}] "r"({name})' for name in given)
    more += "" if narrow else f', [low] "r"({low}), [high] "r"({high})'
    centred = {name: f"{name}[i * {name}_step] - {name}_zero_point" for name in "ab"}
    value = {
        name: f"{name}_one" if name in one_value else f"{function}_{name}({centred[name]}, {name}_multiplier)" if added
        else f"({centred[name]})" for name in "ab"
    }
%>\
<%def name="line(text)">\
        "${text}\n\t"
</%def>\
<%def name="rounded(q, multiplier, right)">\
${line(f"vqrdmulh.s32 {q}, {q}, %[{multiplier}]")}\
% if right:
${line(f"vshr.s32 q2, {q}, #31")}\
${line(f"vadd.i32 {q}, {q}, q2")}\
${line(f"vrshr.s32 {q}, {q}, #{right}")}\
% endif
</%def>\
% if added:
% for name in "ab":
TW_KERNEL int32_t ${function}_${name}(int32_t v, int32_t multiplier)
{
    return tw_mve_requant_twice(v * ${1 << lift}, multiplier, ${-rights[name]}, 0, INT32_MIN, INT32_MAX);
}

% endfor
/* y = D(D(a - a_zero_point, A) ${"-" if minus else "+"} D(b - b_zero_point, B), Y) + zero_point, D the double rounding; see QAdd. */
% else:
/* y = D((a - a_zero_point) * (b - b_zero_point), Y) + zero_point, D the double rounding; see QMul. */
% endif
TW_KERNEL void ${function}(int32_t count, int32_t a_step, int32_t b_step, int32_t y_step,
        const ${types["a"]} *a, const ${types["b"]} *b, ${types["y"]} *y, int32_t a_zero_point, int32_t b_zero_point,
        int32_t zero_point, int32_t multiplier${", int32_t a_multiplier, int32_t b_multiplier" if added else ""})
{
% for name in one_value:
% if added:
    const int32_t ${name}_one = ${function}_${name}(*${name} - ${name}_zero_point, ${name}_multiplier);
% else:
    const int32_t ${name}_one = *${name} - ${name}_zero_point;
% endif
% endfor
% if vector:
#ifdef TW_MVE_ARM
    __asm__ volatile(
% for name in one_value:
${line(f"vdup.32 {'q3' if name == 'a' else 'q4'}, %[{name}_one]")}\
% endfor
% if not narrow:
${line("vdup.32 q5, %[low]")}\
${line("vdup.32 q6, %[high]")}\
% endif
${line("wlstp.32 lr, %[count], 2f")}\
${line("1:")}\
% for name in read:
${line(f"{loads[name]} {register[name]}, [%[{name}]], #{4 * sizes[name]}")}\
% if name in zeros:
${line(f"vsub.i32 {register[name]}, {register[name]}, %[{name}_zero_point]")}\
% endif
% if added:
${line(f"vshl.i32 {register[name]}, {register[name]}, #{lift}")}\
${rounded(register[name], f"{name}_multiplier", rights[name])}\
% endif
% endfor
<%
    left, right = ("q3" if "a" in one_value else "q0"), ("q4" if "b" in one_value else "q1")
    joined = ("vsub.i32" if minus else "vadd.i32") if added else "vmul.i32"
%>\
${line(f"{joined} q0, {left}, {right}")}\
${rounded("q0", "multiplier", rights["y"])}\
${line("vadd.i32 q0, q0, %[zero_point]")}\
% for text in narrow:
${line(text)}\
% endfor
% if not narrow:
${line("vmax.s32 q0, q0, q5")}\
${line("vmin.s32 q0, q0, q6")}\
% endif
${line(f"{stores} q0, [%[y]], #{4 * sizes['y']}")}\
${line("letp lr, 1b")}\
        "2:"
        : [a] "+&l"(a), [b] "+&l"(b), [y] "+&l"(y)
        : [count] "r"(count), [zero_point] "r"(zero_point), [multiplier] "r"(multiplier)${more}
        : "lr", "q0", "q1", "q2",${"".join(f' "q{at}",' for at in kept)} "cc", "memory");
    (void)a_step;
    (void)b_step;
    (void)y_step;
    (void)a_zero_point;
    (void)b_zero_point;
% if added:
    (void)a_multiplier;
    (void)b_multiplier;
% endif
#else
% endif
    for (int32_t i = 0; i < count; ++i) {
        const int32_t v = ${value["a"]} ${("-" if minus else "+") if added else "*"} ${value["b"]};
        y[i * y_step] = (${types["y"]})tw_mve_requant_twice(v, multiplier, ${-rights["y"]}, zero_point, ${low}, ${high});
    }
% if vector:
#endif
% endif
% for name in one_value:
    (void)${name}_step;
% endfor
}
