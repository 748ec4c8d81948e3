<%
    loops = range(len(factors))
    parameters = [f"int32_t n{i}, int32_t first{i}, int32_t moved{i}" for i in loops]
    parameters += [f"const {c_type} *x", *(f"int32_t x{i}" for i in loops)]
    parameters += [f"{c_type} *y", *(f"int32_t y{i}" for i in loops)]
%>\
TW_KERNEL void ${function}(${", ".join(parameters)})
{
% for i in loops:
${"    " * (i + 1)}for (int32_t i${i} = 0; i${i} < n${i}; ++i${i}) {
% if factors[i] > 1:
${"    " * (i + 2)}const int32_t p${i} = (first${i} + i${i}) / ${factors[i]} + moved${i};
% else:
${"    " * (i + 2)}const int32_t p${i} = first${i} + i${i} + moved${i};
% endif
% endfor
${"    " * (len(factors) + 1)}y[${" + ".join(f"i{i} * y{i}" for i in loops)}] = x[${" + ".join(f"p{i} * x{i}" for i in loops)}];
% for i in reversed(loops):
${"    " * (i + 1)}}
% endfor
}
