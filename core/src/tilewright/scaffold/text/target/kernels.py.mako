"""Kernels for the cores: what each computes, when it may be used, what it costs, and how it is called."""

from tilewright.api.graph import DType
from tilewright.api.kernel import Kernel, elementwise_walk, fragment_file, nest


def match(site):
    """A sentence that the user reads refuses; anything else accepts."""
    if site.input(0).dtype is not DType.F32:
        return f"X must be f32, found {site.input(0).dtype.value}"
    if (site.node.number("min"), site.node.number("max")) != (0.0, float("inf")):
        return "only Relu: min 0, no max"
    return None


def values(call):
    """What the text of the call needs. A tile may have gaps, so rows that the C does not know are loops around it."""
    loops = elementwise_walk(call.operands, "Y", ["X"])
    outer = nest(loops, inner=1)
    return {
        "headers": outer.headers,
        "x": f"{call.operands['X']}{outer.offsets['X']}",
        "y": f"{call.operands['Y']}{outer.offsets['Y']}",
        "arguments": f"{loops.extents[-1]}, {loops.steps['X'][-1]}, {loops.steps['Y'][-1]}",
    }


RELU = Kernel(
    name="${module}.relu",
    op="Clip",  # the operator that ONNX's Relu becomes: see `tilewright ops`
    target="${name}",
    match=match,
    parallel=("*",),
    in_place=lambda site: (("X", "Y"),),
    cycles=lambda tile: 0.5 * tile.site.output.elements,
    values=values,
    source=(fragment_file("${module}", "relu.h"),),
<%text>    call="""\
% for header in headers:
${header}
% endfor
</%text>${module}_relu(<%text>${arguments}, ${x}, ${y});""",</%text>
)
