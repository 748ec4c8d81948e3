"""Knows how ONNX's Resize and Upsample become repetition, interpolation on a line, gathered elements or weighted sums.
Does not know how those are computed, nor where outputs lie (`resize_rules`).

Source: ONNX Resize-10 to 19 and Upsample-9. Axes that keep their extent are left alone; the others follow one another.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from tilewright.ir.graphs.graph import Attribute
from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode, need_room
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.convolution.interpolate import linear_attributes
from tilewright.operators.convolution.resize_rules import ROUNDINGS, RULES, Filter, Line, nearest, outside, taps

_REPEATING = (  # (coordinate rule, rounding rule) under which output i is input floor(i / factor)
    ("asymmetric", "floor"),
    *(
        (rule, rounding)
        for rule in ("half_pixel", "half_pixel_symmetric", "pytorch_half_pixel")
        for rounding in ("round_prefer_floor", "round_prefer_ceil")
    ),
)
_POLICIES = ("stretch", "not_larger", "not_smaller")


def _import_resize(node: OnnxNode, graph: Conversion) -> None:
    rule = node.text("coordinate_transformation_mode", "half_pixel")
    rounding = node.text("nearest_mode", "round_prefer_floor")
    mode = node.text("mode", "nearest")
    if rule not in RULES or rounding not in ROUNDINGS:
        raise graph.refuse(node, f"coordinates by {rule!r} and {rounding!r} are not known")
    if rule == "tf_half_pixel_for_nn" and (mode != "nearest" or rounding == "ceil"):
        raise graph.refuse(node, f"coordinates by {rule!r} are for the nearest element below them, not {mode!r}")
    lines = _lines(node, graph, rule)
    _emit(node, graph, lines, mode, rule, [rounding] * len(lines))


def _import_scaled(node: OnnxNode, graph: Conversion) -> None:
    """Upsample-9 and Resize-10: scales are input 1, and the only rule is asymmetric with floor, or ceil below 1."""
    scales = tuple(float(scale) for scale in graph.need_constant(node, 1).reshape(-1))
    shape = graph.tensor(node.inputs[0]).shape
    lines = [Line(inputs=n, size=_floor(n * scale), scale=scale) for n, scale in zip(shape, scales, strict=False)]
    if len(scales) != len(shape):
        raise graph.refuse(node, f"there are {len(scales)} scales for {len(shape)} axes")
    roundings = ["ceil" if line.scale < 1 else "floor" for line in lines]
    _emit(node, graph, lines, node.text("mode", "nearest"), "asymmetric", roundings)


def _lines(node: OnnxNode, graph: Conversion, rule: str) -> list[Line]:
    """One for each axis of X, from `scales` (input 2) or `sizes` (input 3), and `roi` (input 1)."""
    shape = graph.tensor(node.inputs[0]).shape
    axes = node.integers("axes") or tuple(range(len(shape)))
    if any(not -len(shape) <= axis < len(shape) for axis in axes):
        raise graph.refuse(node, f"axes {list(axes)} are not axes of a tensor with {len(shape)}")
    axes = tuple(axis % len(shape) for axis in axes)
    lines = [Line(inputs=extent, size=extent, scale=1.0) for extent in shape]
    scales, sizes = _given(node, graph, 2), _given(node, graph, 3)
    if not scales and not sizes:
        raise graph.refuse(node, "it has neither scales nor sizes")
    if len(scales or sizes) != len(axes) or len(set(axes)) != len(axes):
        raise graph.refuse(node, f"{len(scales or sizes)} scales or sizes for {len(axes)} axes")
    if sizes:
        found = _sized(node, graph, [shape[axis] for axis in axes], [int(size) for size in sizes])
    else:
        found = [
            Line(inputs=shape[axis], size=_floor(shape[axis] * scale), scale=scale)
            for axis, scale in zip(axes, scales, strict=True)
        ]
    roi = _given(node, graph, 1) if rule == "tf_crop_and_resize" else ()
    if rule == "tf_crop_and_resize" and len(roi) != 2 * len(axes):
        raise graph.refuse(node, f"roi has {len(roi)} elements, not two for each of {len(axes)} axes")
    for index, (axis, line) in enumerate(zip(axes, found, strict=True)):
        lines[axis] = replace(line, roi=(roi[index], roi[index + len(axes)])) if roi else line
    return lines


def _given(node: OnnxNode, graph: Conversion, index: int) -> tuple[float, ...]:
    if len(node.inputs) <= index or not node.inputs[index]:
        return ()
    return tuple(float(value) for value in graph.need_constant(node, index).reshape(-1))


def _floor(extent: float) -> int:
    return math.floor(extent) if math.isfinite(extent) else -1


def _sized(node: OnnxNode, graph: Conversion, extents: Sequence[int], sizes: Sequence[int]) -> list[Line]:
    policy = node.text("keep_aspect_ratio_policy", "stretch")
    if policy not in _POLICIES or 0 in extents:
        raise graph.refuse(node, f"keep_aspect_ratio_policy is {policy!r}, extents are {list(extents)}")
    scales = [size / extent for size, extent in zip(sizes, extents, strict=True)]
    if policy == "stretch":
        lines = zip(extents, sizes, scales, strict=True)
        return [Line(inputs=extent, size=size, scale=scale) for extent, size, scale in lines]
    scale = min(scales) if policy == "not_larger" else max(scales)
    return [Line(inputs=extent, size=math.floor(scale * extent + 0.5), scale=scale) for extent in extents]


def _emit(node: OnnxNode, graph: Conversion, lines: list[Line], mode: str, rule: str, roundings: Sequence[str]) -> None:
    if any(line.inputs < 1 or line.size < 1 or not 0 < line.scale < 2**31 for line in lines):
        raise graph.refuse(node, f"it makes {[line.size for line in lines]} of {[line.inputs for line in lines]}")
    if mode == "nearest":
        _emit_nearest(node, graph, lines, rule, roundings)
    elif mode in ("linear", "cubic"):
        _emit_weighted(node, graph, lines, rule, mode)
    else:
        raise graph.refuse(node, f"mode {mode!r} is none of 'nearest', 'linear', 'cubic'")


def _emit_nearest(node: OnnxNode, graph: Conversion, lines: list[Line], rule: str, roundings: Sequence[str]) -> None:
    """Repetition where that is what the rules say, else elements gathered axis by axis."""
    repeating = all((rule, rounding) in _REPEATING for rounding in roundings)
    if repeating and all(line.scale == line.size // line.inputs for line in lines):
        factors: Attribute = tuple(line.size // line.inputs for line in lines)
        graph.emit(node, "Upsample", node.inputs[:1], node.outputs, {"factors": factors})
        return
    need_room(node, graph, max(line.size for line in lines))
    value = node.inputs[0]
    for axis, (line, rounding) in enumerate(zip(lines, roundings, strict=True)):
        if not line.keeps:
            indices = graph.add_constant(nearest(line, rule, rounding), f"nearest_{axis}")
            value = graph.apply(node, "Gather", 13, (value, indices), (), {"axis": axis}, f"axis_{axis}")
    graph.rename(node, _cropped(node, graph, value, lines, rule))


def _emit_weighted(node: OnnxNode, graph: Conversion, lines: list[Line], rule: str, mode: str) -> None:
    if graph.tensor(node.inputs[0]).dtype is not DType.F32:
        raise graph.refuse(node, f"X must be f32 for {mode} interpolation")
    weighting = Filter(
        mode=mode,
        cubic=node.number("cubic_coeff_a", -0.75),
        antialias=bool(node.integer("antialias")),
        exclude_outside=bool(node.integer("exclude_outside")),
    )
    if weighting == Filter(mode="linear", cubic=weighting.cubic):
        attributes = linear_attributes(lines, rule)
        if attributes is not None:
            graph.emit(node, "ResizeLinear", node.inputs[:1], node.outputs, attributes)
            return
    need_room(node, graph, max((line.size * line.inputs for line in lines if not line.keeps), default=0))
    value = node.inputs[0]
    for axis, line in enumerate(lines):
        if not line.keeps:
            constants = zip(taps(line, rule, weighting), (f"first_{axis}", f"weights_{axis}"), strict=True)
            operands = (value, *(graph.add_constant(array, hint) for array, hint in constants))
            value = graph.emit(node, "Resample", operands, (), {"axis": axis}, f"axis_{axis}")
    graph.rename(node, _cropped(node, graph, value, lines, rule))


def _cropped(node: OnnxNode, graph: Conversion, value: str, lines: list[Line], rule: str) -> str:
    """The extrapolation value where outputs lie outside the input."""
    dtype = graph.tensor(value).dtype
    for axis, line in enumerate(lines):
        beyond = outside(line, rule)
        if beyond.any():
            mask = graph.add_constant(beyond.reshape(-1, *(1,) * (len(lines) - axis - 1)), f"outside_{axis}")
            other = graph.add_constant(np.full(1, node.number("extrapolation_value"), dtype.numpy), "extrapolation")
            value = graph.emit(node, "Where", (mask, other, value), hint=f"cropped_{axis}")
    return value


_RULES = {
    "coordinate_transformation_mode": "STRING",
    "cubic_coeff_a": "FLOAT",
    "exclude_outside": "INT",
    "extrapolation_value": "FLOAT",
    "mode": "STRING",
    "nearest_mode": "STRING",
}
_AXES = {**_RULES, "antialias": "INT", "axes": "INTS", "keep_aspect_ratio_policy": "STRING"}

_scaled = partial(Import, attributes={"mode": "STRING"}, convert=_import_scaled, min_inputs=2, max_inputs=2)

IMPORTS = (
    _scaled(op_type="Upsample", since=9),
    _scaled(op_type="Resize", since=10),
    Import(op_type="Resize", since=11, attributes=_RULES, convert=_import_resize, min_inputs=1, max_inputs=4),
    Import(op_type="Resize", since=18, attributes=_AXES, convert=_import_resize, min_inputs=1, max_inputs=4),
)
