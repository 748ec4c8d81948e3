<%
    kept_loops, reduced_loops = range(kept), range(reduced)
    groups = [[f"int32_t n{i}" for i in kept_loops] + [f"int32_t m{i}" for i in reduced_loops]]
    groups += [[f"const {x_type} *x", *(f"int32_t x{i}" for i in kept_loops), *(f"int32_t r{i}" for i in reduced_loops)]]
    groups += [[f"{y_type} *y", *(f"int32_t y{i}" for i in kept_loops)]]
    groups += [["int32_t zeros", f"{rounding.word_type}word", "tw_requant requant"]]
    groups += [["int32_t first", "int32_t last", "int32_t *acc", *(f"int32_t a{i}" for i in kept_loops)]] if part else []
    parameters = ",\n        ".join(", ".join(group) for group in groups)
    inner = "    " * (kept + 1)
%>\
/* y = requant(sum of x - zeros): n and x, y are the loops over outputs, m and r those over what is summed. */
TW_KERNEL void ${function}(${parameters})
{
% for i in kept_loops:
${"    " * (i + 1)}for (int32_t i${i} = 0; i${i} < n${i}; ++i${i}) {
% endfor
${inner}const ${x_type} *const at = x + ${" + ".join(f"i{i} * x{i}" for i in kept_loops)};
% if part:
${inner}int32_t *const kept = acc + ${" + ".join(f"i{i} * a{i}" for i in kept_loops)};
${inner}int32_t sum = first ? -zeros : *kept;
% else:
${inner}int32_t sum = -zeros;
% endif
% for i in reduced_loops:
${inner}${"    " * i}for (int32_t j${i} = 0; j${i} < m${i}; ++j${i}) {
% endfor
${inner}${"    " * reduced}sum += at[${" + ".join(f"j{i} * r{i}" for i in reduced_loops)}];
% for i in reversed(reduced_loops):
${inner}${"    " * i}}
% endfor
% if part:
${inner}*kept = sum;
${inner}if (last) {
${inner}    y[${" + ".join(f"i{i} * y{i}" for i in kept_loops)}] = (${y_type})${rounding.handed("sum", "word", "requant")};
${inner}}
% else:
${inner}y[${" + ".join(f"i{i} * y{i}" for i in kept_loops)}] = (${y_type})${rounding.handed("sum", "word", "requant")};
% endif
% for i in reversed(kept_loops):
${"    " * (i + 1)}}
% endfor
}
