<%doc> Needs function, types, one_value (inputs with one element in a row), shift, ties, inside, narrow. </%doc>\
<%
    terms = [f"{name}[{{{name}_at}}] * {name}_factor" for name in "ab" if name not in one_value]
%>\
<%def name="element(i)">\
<% total = " + ".join(("start", *(term.format(a_at=times(i, "a_step"), b_at=times(i, "b_step")) for term in terms))) %>\
% if ties:
        v = ${total};
        v = ((v + ${(1 << shift >> 1) - 1} + ((v >> ${shift}) & 1)) >> ${shift}) + zero_point;
% elif inside:
        v = ${total};
% else:
        v = ((${total}) >> ${shift}) + zero_point;
% endif
        y[${times(i, "y_step")}] = (${types["y"]})${narrow}(v);
</%def>\
/* y = clamp(((a * a_factor + b * b_factor + offset) >> shift) + zero_point)
 * ${"with halves to the even neighbour; " if ties else ""}see QAdd. */
TW_KERNEL void ${function}(int32_t count, int32_t a_step, int32_t b_step, int32_t y_step,
        const ${types["a"]} *a, const ${types["b"]} *b, ${types["y"]} *y,
        int32_t a_factor, int32_t b_factor, int32_t offset, int32_t zero_point)
{
    const int32_t start = offset${"".join(f" + *{name} * {name}_factor" for name in one_value)};
    int32_t v = zero_point;
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
    (void)v;
}
