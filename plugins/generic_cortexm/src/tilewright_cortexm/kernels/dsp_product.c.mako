<%doc> Needs function, types, one_value (inputs with one element in a row), requantise. </%doc>\
<%
    each = "({name}[{{{name}_at}}] - {name}_zero_point)"
    of = {name: f"{name}_one" if name in one_value else each.format(name=name) for name in "ab"}
%>\
<%def name="element(i)">\
<% product = f"{of['a']} * {of['b']}".format(a_at=times(i, "a_step"), b_at=times(i, "b_step")) %>\
        y[${times(i, "y_step")}] = (${types["y"]})${requantise}(${product}, word, above, zero_point);
</%def>\
/* y = requant((a - a_zero_point) * (b - b_zero_point)); see QMul. */
TW_KERNEL void ${function}(int32_t count, int32_t a_step, int32_t b_step, int32_t y_step,
        const ${types["a"]} *a, const ${types["b"]} *b, ${types["y"]} *y,
        int32_t a_zero_point, int32_t b_zero_point, int32_t word, int32_t above, int32_t zero_point)
{
% for name in one_value:
    const int32_t ${name}_one = *${name} - ${name}_zero_point;
% endfor
    for (; count >= 4; count -= 4) {
% for i in range(4):
${element(i)}\
% endfor
        a += 4 * a_step;
        b += 4 * b_step;
        y += 4 * y_step;
    }
    for (; count > 0; --count) {
${element(0)}\
        a += a_step;
        b += b_step;
        y += y_step;
    }
}
