#include "functions/tw_gathered.h"

<%
    loops = range(depth)
    parameters = [f"int32_t n{i}" for i in loops]
    for name, element in (("x", c_type), ("i", index_type)):
        parameters += [f"const {element} *{name}", *(f"int32_t {name}{i}" for i in loops)]
    parameters += [f"{c_type} *y", *(f"int32_t y{i}" for i in loops), "int32_t extent", "int32_t step"]
    at = {name: " + ".join(f"k{i} * {name}{i}" for i in loops) for name in "xiy"}
%>\
TW_KERNEL void ${function}(${", ".join(parameters)})
{
% for i in loops:
${"    " * (i + 1)}for (int32_t k${i} = 0; k${i} < n${i}; ++k${i}) {
% endfor
${"    " * (depth + 1)}const int32_t position = tw_gathered((int64_t)i[${at["i"]}], extent);
${"    " * (depth + 1)}y[${at["y"]}] = x[${at["x"]} + (position * step)];
% for i in reversed(loops):
${"    " * (i + 1)}}
% endfor
}
