"""Knows Upsample: every element repeated a whole number of times along each axis, as Resize does to the nearest.
Does not know interpolation (`interpolate`), nor sizes that are no multiple.

Normal form: attribute `factors`, one for each axis. Only elements move, so any type is taken as it is.
Source: ONNX Resize-10 to 19 and Upsample-7, 9; which coordinate rules give plain repetition is `_repeats`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from tilewright.ir.access import Access, parse_map
from tilewright.ir.graph import Site, Tensor
from tilewright.ir.importing import Conversion, Import, OnnxNode
from tilewright.ir.kernel import Call, Kernel
from tilewright.ir.operator import Operator
from tilewright.operators.c_index import c_sum
from tilewright.operators.c_source import c_template
from tilewright.operators.interpolate import emit_linear
from tilewright.operators.shape_errors import shape_error

Array = npt.NDArray[np.generic]

_REPEATING = (  # (coordinate rule, rounding rule) under which output i is input floor(i / factor)
    ("asymmetric", "floor"),
    ("half_pixel", "round_prefer_floor"),
    ("half_pixel", "round_prefer_ceil"),
    ("pytorch_half_pixel", "round_prefer_floor"),
    ("pytorch_half_pixel", "round_prefer_ceil"),
    ("half_pixel_symmetric", "round_prefer_floor"),
    ("half_pixel_symmetric", "round_prefer_ceil"),
)


def _factors(site: Site) -> tuple[int, ...]:
    return site.node.integers("factors")


def _infer(site: Site) -> tuple[Tensor, ...]:
    x, factors = site.input(0), _factors(site)
    if len(factors) != len(x.shape) or any(factor < 1 for factor in factors):
        raise shape_error(site, "factors are whole numbers from 1 on, one for each axis")
    shape = tuple(extent * factor for extent, factor in zip(x.shape, factors, strict=True))
    return (Tensor(name=site.node.outputs[0], dtype=x.dtype, shape=shape),)


def _reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    value = np.asarray(inputs[0])
    for axis, factor in enumerate(_factors(site)):
        value = np.repeat(value, factor, axis=axis)
    return (value,)


def _access(site: Site) -> Access:
    factors = _factors(site)
    loops = [f"a{axis}" for axis in range(len(factors))]
    reads = [loop if factor == 1 else f"{loop}//{factor}" for loop, factor in zip(loops, factors, strict=True)]
    text = f"{' '.join(loops)} : X[{','.join(reads)}] -> Y[{','.join(loops)}]"
    return parse_map(text).bind({"X": site.input(0).shape, "Y": site.output.shape})


def _values(call: Call) -> Mapping[str, object]:
    """Loops in the order in which the output is stored; an axis of one factor and one element costs nothing."""
    x, y, factors = call.operands["X"], call.operands["Y"], _factors(call.site)
    order = sorted(range(len(factors)), key=lambda axis: -y.strides[axis])
    axes = [axis for axis in order if y.shape[axis] > 1] or order[-1:]
    arguments = []
    for axis in axes:
        first, moved = y.origin[axis], c_sum(0, (-1, x.origin[axis]))
        arguments += [y.extents[axis], first, moved]
    arguments += [str(x), *(str(x.strides[axis]) for axis in axes), str(y), *(str(y.strides[axis]) for axis in axes)]
    sizes = [factors[axis] for axis in axes]
    return {
        "function": f"tw_upsample_{y.dtype.value}_{'x'.join(map(str, sizes))}",
        "factors": sizes,
        "c_type": y.dtype.c_type,
        "arguments": ", ".join(arguments),
    }


def _import_resize(node: OnnxNode, graph: Conversion) -> None:
    if node.integers("axes") or node.integer("antialias"):
        raise graph.refuse(node, "axes and antialias are not supported")
    if node.text("mode", "nearest") == "linear":
        if node.text("keep_aspect_ratio_policy", "stretch") != "stretch" or node.integer("exclude_outside"):
            raise graph.refuse(node, "keep_aspect_ratio_policy and exclude_outside are not supported")
        scales, sizes = _wanted(node, graph)
        emit_linear(node, graph, scales, sizes, node.text("coordinate_transformation_mode", "half_pixel"))
        return
    _need_nearest(node, graph)
    rules = (node.text("coordinate_transformation_mode", "half_pixel"), node.text("nearest_mode", "round_prefer_floor"))
    if rules not in _REPEATING:
        raise graph.refuse(node, f"{rules[0]} with {rules[1]} does not repeat every element equally often")
    _emit(node, graph, _resized(node, graph))


def _need_nearest(node: OnnxNode, graph: Conversion) -> None:
    if node.text("mode", "nearest") != "nearest":
        raise graph.refuse(node, "modes 'nearest' and 'linear' are supported; export with one of them")


def _resized(node: OnnxNode, graph: Conversion) -> tuple[float, ...]:
    """Factors from `scales` (input 2) or `sizes` (input 3)."""
    scales, sizes = _wanted(node, graph)
    shape = graph.tensor(node.inputs[0]).shape
    return scales or tuple(size / max(extent, 1) for size, extent in zip(sizes, shape, strict=False))


def _wanted(node: OnnxNode, graph: Conversion) -> tuple[tuple[float, ...], tuple[int, ...]]:
    """`scales` (input 2) or `sizes` (input 3); the other is empty."""
    if len(node.inputs) > 2 and node.inputs[2] and graph.need_constant(node, 2).size:
        return tuple(float(scale) for scale in graph.need_constant(node, 2).reshape(-1)), ()
    if len(node.inputs) <= 3 or not node.inputs[3]:
        raise graph.refuse(node, "it has neither scales nor sizes")
    return (), tuple(int(size) for size in graph.need_constant(node, 3).reshape(-1))


def _import_scaled(node: OnnxNode, graph: Conversion) -> None:
    """Upsample-9 and Resize-10: scales are input 1, and the only rule is asymmetric with floor."""
    scales = tuple(float(scale) for scale in graph.need_constant(node, 1).reshape(-1))
    if node.text("mode", "nearest") == "linear":
        emit_linear(node, graph, scales, (), "asymmetric")
        return
    _need_nearest(node, graph)
    _emit(node, graph, scales)


def _emit(node: OnnxNode, graph: Conversion, scales: Sequence[float]) -> None:
    shape = graph.tensor(node.inputs[0]).shape
    if len(scales) != len(shape) or any(scale < 1 or scale != int(scale) for scale in scales):
        raise graph.refuse(node, f"factors must be whole numbers, one for each axis; found {list(scales)}")
    graph.emit(node, "Upsample", node.inputs[:1], node.outputs, {"factors": tuple(int(scale) for scale in scales)})


_RULES = {
    "coordinate_transformation_mode": "STRING",
    "cubic_coeff_a": "FLOAT",
    "exclude_outside": "INT",
    "extrapolation_value": "FLOAT",
    "mode": "STRING",
    "nearest_mode": "STRING",
}
_AXES = {**_RULES, "antialias": "INT", "axes": "INTS", "keep_aspect_ratio_policy": "STRING"}

UPSAMPLE = Operator(
    name="Upsample",
    inputs=("X",),
    outputs=("Y",),
    summary="every element repeated along each axis (Resize to the nearest, by whole factors)",
    infer=_infer,
    reference=_reference,
    access=_access,
    imports=(
        Import(
            op_type="Upsample",
            since=9,
            attributes={"mode": "STRING"},
            convert=_import_scaled,
            min_inputs=2,
            max_inputs=2,
        ),
        Import(
            op_type="Resize",
            since=10,
            attributes={"mode": "STRING"},
            convert=_import_scaled,
            min_inputs=2,
            max_inputs=2,
        ),
        Import(op_type="Resize", since=11, attributes=_RULES, convert=_import_resize, min_inputs=1, max_inputs=4),
        Import(op_type="Resize", since=18, attributes=_AXES, convert=_import_resize, min_inputs=1, max_inputs=4),
    ),
)

UPSAMPLE_COPY = Kernel(
    name="portable.upsample",
    op="Upsample",
    parallel=("*",),
    values=_values,
    source=(c_template("${function}", "upsample.c.mako"),),
    call="${function}(${arguments});",
)

OPERATORS = (UPSAMPLE,)
KERNELS = (UPSAMPLE_COPY,)
