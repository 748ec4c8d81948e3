<%doc>
Needs function, inputs (their names), one_value (inputs with one element in a row), vector, instruction, symbol (both ""
where there is one input), clip ("none", "low" or "both"). NaN is kept: see float_block_mve.c.mako.
</%doc>\
#include "float_block.h"
#include "mve.h"

<%
    read = [name for name in inputs if name not in one_value]
    at = {"a": "q0", "b": "q1", "x": "q2"}
    limits = {"none": (), "low": ("low",), "both": ("low", "high")}[clip]
    pointers = ", ".join(f'[{name}] "+&r"({name})' for name in (*read, "y"))
    values = "".join(f', [{name}] "r"({name})' for name in limits)
    values += "".join(f', [{name}] "r"(*{name})' for name in one_value)
    clobbers = "".join(f' "q{number}",' for number in range(5 if clip == "both" else 4 if limits else 3))
    unused = [name for name in ("low", "high") if name not in limits]
%>\
<%def name="line(text)">\
        "${text}\n\t"
</%def>\
/* y = clip(${f" {symbol} ".join(inputs)}), element by element. */
TW_KERNEL void ${function}(int32_t count, ${"".join(f"int32_t {name}_step, " for name in (*inputs, "y"))}
        ${"".join(f"const float *{name}, " for name in inputs)}float *y, float low, float high)
{
% if vector:
#ifdef TW_MVE_ARM
    __asm__ volatile(
% for name in one_value:
${line(f"vdup.32 {at[name]}, %[{name}]")}\
% endfor
% for name, to in zip(limits, ("q3", "q4")):
${line(f"vdup.32 {to}, %[{name}]")}\
% endfor
${line("wlstp.32 lr, %[count], 2f")}\
${line("1:")}\
% for name in read:
${line(f"vldrw.u32 {at[name]}, [%[{name}]], #16")}\
% endfor
% if instruction:
${line(f"{instruction} q2, q0, q1")}\
% endif
% if limits:
${line("vpt.f32 gt, q3, q2")}\
${line("vorrt q2, q3, q3")}\
% endif
% if clip == "both":
${line("vpt.f32 gt, q2, q4")}\
${line("vorrt q2, q4, q4")}\
% endif
${line("vstrw.32 q2, [%[y]], #16")}\
${line("letp lr, 1b")}\
        "2:"
        : ${pointers}
        : [count] "r"(count)${values}
        : "lr",${clobbers} "cc", "memory");
% for name in (*(f"{each}_step" for each in (*inputs, "y")), *unused):
    (void)${name};
% endfor
#else
% endif
    for (int32_t i = 0; i < count; ++i) {
        y[i * y_step] = tw_float_clip(${f" {symbol} ".join(f"{name}[i * {name}_step]" for name in inputs)}, low, high);
    }
% if vector:
#endif
% endif
}
