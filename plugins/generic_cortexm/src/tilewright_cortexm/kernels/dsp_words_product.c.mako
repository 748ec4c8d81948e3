<%doc> Needs function, one_value (inputs with one element in a row), near, right, zero_point, low, high. </%doc>\
<%
    of = {name: f"{name}_one" if name in one_value else f"{name}[{'i' if near else f'i * {name}_step'}]" for name in "ab"}
%>\
/* y = D(a * b, Y) + zero_point, D the double rounding; see QMul. */
TW_KERNEL void ${function}(int32_t count, int32_t a_step, int32_t b_step, int32_t y_step, const int16_t *a,
        const int16_t *b, int16_t *y, int32_t multiplier)
{
% for name in one_value:
    const int32_t ${name}_one = *${name};
% endfor
    for (int32_t i = 0; i < count; ++i) {
        const int32_t product = ${of["a"]} * ${of["b"]};
        const int32_t v = (int32_t)((((int64_t)product * multiplier) + (INT64_C(1) << 30)) >> 31);
% if right:
        const int32_t q = (v + ${((1 << right >> 1) + (zero_point << right))} - ((v < 0) ? 1 : 0)) >> ${right};
% else:
        const int32_t q = v + ${zero_point};
% endif
        y[${"i" if near else "i * y_step"}] = (int16_t)((q < ${low}) ? ${low} : ((q > ${high}) ? ${high} : q));
    }
% for name in "aby":
    (void)${name}_step;
% endfor
}
