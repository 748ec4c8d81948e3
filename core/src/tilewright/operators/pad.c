<%
    loops = range(depth)
    parameters = [f"int32_t n{i}, int32_t first{i}, int32_t extent{i}, int32_t moved{i}" for i in loops]
    parameters += [f"const {c_type} *x", *(f"int32_t x{i}" for i in loops)]
    parameters += [f"{c_type} *y", *(f"int32_t y{i}" for i in loops), f"{c_type} value"]
    inside = " && ".join(f"p{i} >= 0" for i in loops)
%>\
#ifndef TW_PAD_${mode.upper()}
#define TW_PAD_${mode.upper()}
% if mode == "constant":
/* The position itself, or -1 in the padding. */
TW_KERNEL int32_t tw_pad_constant(int32_t position, int32_t extent)
{
    return position < extent ? position : -1;
}
% elif mode == "edge":
/* The nearest position inside. */
TW_KERNEL int32_t tw_pad_edge(int32_t position, int32_t extent)
{
    return position < 0 ? 0 : (position < extent ? position : extent - 1);
}
% elif mode == "wrap":
/* The position modulo the extent. */
TW_KERNEL int32_t tw_pad_wrap(int32_t position, int32_t extent)
{
    const int32_t rest = position % extent;
    return rest < 0 ? rest + extent : rest;
}
% else:
/* The position mirrored at both ends, which are not repeated. */
TW_KERNEL int32_t tw_pad_reflect(int32_t position, int32_t extent)
{
    const int32_t period = extent > 1 ? 2 * (extent - 1) : 1;
    const int32_t rest = position % period;
    const int32_t forward = rest < 0 ? rest + period : rest;
    return forward < extent ? forward : period - forward;
}
% endif
#endif
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
