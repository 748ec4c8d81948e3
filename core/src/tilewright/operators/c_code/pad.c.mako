<%
    loops = range(depth)
    parameters = [f"int32_t n{i}, int32_t first{i}, int32_t extent{i}, int32_t moved{i}" for i in loops]
    parameters += [f"const {c_type} *x", *(f"int32_t x{i}" for i in loops)]
    parameters += [f"{c_type} *y", *(f"int32_t y{i}" for i in loops), f"{c_type} value"]
    inside = " && ".join(f"p{i} >= 0" for i in loops)
%>\
TW_KERNEL void ${function}(${", ".join(parameters)})
{
% for i in loops:
${"    " * (i + 1)}for (int32_t i${i} = 0; i${i} < n${i}; ++i${i}) {
${"    " * (i + 2)}const int32_t p${i} = tw_pad_${mode}(first${i} + i${i}, extent${i});
% endfor
${"    " * (depth + 1)}y[${" + ".join(f"i{i} * y{i}" for i in loops)}] = ${inside}
${"    " * (depth + 1)}    ? x[${" + ".join(f"(p{i} + moved{i}) * x{i}" for i in loops)}] : value;
% for i in reversed(loops):
${"    " * (i + 1)}}
% endfor
}
