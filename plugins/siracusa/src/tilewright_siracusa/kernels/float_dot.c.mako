<%doc>
Needs form: "rows" (products are neighbours in x and in w), "columns" (neighbours in x, and w has the sums' factors side by
side), or "any".
</%doc>\
#include "float_step.h"

<%
    x_step, w_step, w_output = {
        "rows": ("1", "1", "w_output"), "columns": ("1", "w_step", "1"), "any": ("x_step", "w_step", "w_output"),
    }[form]
    unrolled = {(4, 4): 4, (1, 4): 4, (4, 1): 2, (1, 1): 4}
%>\
% for pixels, outputs in ((4, 4), (1, 4), (4, 1), (1, 1)):
<%
    name = f"tw_xp_f32_dot{pixels}x{outputs}_{form}"
    steps = 1 if form == "any" else unrolled[pixels, outputs]
    weights = 1 if form == "columns" else outputs
    unused = {"rows": ["x_step", "w_step"], "columns": ["x_step", "w_output"], "any": []}[form]
    unused += ["w_output"] if outputs == 1 and form != "columns" else []
%>\
/* ${pixels} ${"rows" if pixels > 1 else "row"} of x times ${outputs} of w: `count` products each, added to acc[row of x][row of w]. */
TW_KERNEL void ${name}(int32_t count, const float *const *x, int32_t x_step, const float *w, int32_t w_step,
        int32_t w_output, float *acc)
{
% for i in range(pixels):
    const float *x${i} = x[${i}];
% endfor
% for j in range(weights):
    const float *w${j} = ${added('w', times(j, w_output))};
% endfor
% for i in range(pixels * outputs):
    float s${i} = acc[${i}];
% endfor
    int32_t k = count;
% for step in sorted({steps, 1}, reverse=True):
    for (; k >= ${step}; k -= ${step}) {
% for number in range(step):
<%
    def x_at(i):
        return f"x{i}[{number}]"
    def w_at(j):
        return f"w0[{f'{number} * w_step + ' if number else ''}{j}]" if form == "columns" else f"w{j}[{number}]"
%>\
% if number:
        TW_XP_STEP;
% endif
% for i in range(pixels):
        const float v${i}${number} = ${x_at(i)};
% endfor
% for j in range(outputs):
        const float u${j}${number} = ${w_at(j)};
% for i in range(pixels):
        s${i * outputs + j} = tw_xp_f32_fma(v${i}${number}, u${j}${number}, s${i * outputs + j});
% endfor
% endfor
% endfor
% for i in range(pixels):
        x${i} += ${x_step if step == 1 else step};
% endfor
% for j in range(weights):
        w${j} += ${w_step if step == 1 else f"{step} * w_step" if form == "columns" else step};
% endfor
    }
% endfor
% for i in range(pixels * outputs):
    acc[${i}] = s${i};
% endfor
% for parameter in unused:
    (void)${parameter};
% endfor
}

% endfor
