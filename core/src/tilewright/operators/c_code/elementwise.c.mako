<%
    names = [*(name for name, _ in inputs), output[0]]
    parameters = [f"int32_t n{i}" for i in range(depth)]
    for name, c_type in inputs:
        parameters += [f"const {c_type} *{name}_in", *(f"int32_t {name}{i}" for i in range(depth))]
    parameters += [f"{output[1]} *{output[0]}_out", *(f"int32_t {output[0]}{i}" for i in range(depth))]
    parameters += [f"{c_type} {name}" for name, c_type in scalars]
    at = {name: " + ".join(f"i{i} * {name}{i}" for i in range(depth)) for name in names}
%>\
TW_KERNEL void ${function}(${", ".join(parameters)})
{
% for i in range(depth):
${"    " * (i + 1)}for (int32_t i${i} = 0; i${i} < n${i}; ++i${i}) {
% endfor
% for name, (real, load) in read.items():
${"    " * (depth + 1)}const ${real} ${name} = ${load(f"{name}_in[{at[name]}]")};
% endfor
${"    " * (depth + 1)}${output[0]}_out[${at[output[0]]}] = ${expression};
% for i in reversed(range(depth)):
${"    " * (i + 1)}}
% endfor
}
