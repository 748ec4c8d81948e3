"""Knows how ONNX's Resize and Upsample become repetition, interpolation on a line, gathered elements or weighted sums:
where the outputs lie in the input along each axis, and which elements weigh how much there.
Does not know how a sum is computed (`resample`, `interpolate`).

Source: ONNX Resize-10 to 19 and Upsample-9; positions in float64, as in ONNX's reference. Axes that keep their extent
are left alone; the others follow one another.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tilewright.ir.graphs.graph import Attribute
from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode, need_room
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.convolution.interpolate import Line

if TYPE_CHECKING:
    from fractions import Fraction

Doubles = npt.NDArray[np.float64]
Positions = npt.NDArray[np.int64]

_LARGEST = 2**30  # numerators of positions stay within int32_t
_FINEST = 4096  # denominator of a scale


@dataclass(frozen=True, slots=True, kw_only=True)
class Resized:
    """One axis of `inputs` elements that gets `size`; `scale`, what was asked for, is their ratio but for rounding."""

    inputs: int
    size: int
    scale: float
    roi: tuple[float, float] = (0.0, 1.0)  # tf_crop_and_resize only

    @property
    def keeps(self) -> bool:
        """Whether every output is the input at its place, whatever the rule."""
        return self.size == self.inputs and self.scale == 1 and self.roi == (0, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """How elements are weighted: "linear" or "cubic", with the coefficient of the latter."""

    mode: str
    cubic: float = -0.75
    antialias: bool = False
    exclude_outside: bool = False


def _half_pixel(line: Resized, y: Doubles) -> Doubles:
    return (y + 0.5) / line.scale - 0.5


def _symmetric(line: Resized, y: Doubles) -> Doubles:
    return line.inputs / 2 * (1 - line.size / (line.scale * line.inputs)) + _half_pixel(line, y)


def _pytorch_half_pixel(line: Resized, y: Doubles) -> Doubles:
    return np.full_like(y, -0.5) if line.scale * line.inputs == 1 else _half_pixel(line, y)


def _align_corners(line: Resized, y: Doubles) -> Doubles:
    width = line.scale * line.inputs
    return np.zeros_like(y) if width == 1 else y * (line.inputs - 1) / (width - 1)


def _crop(line: Resized, y: Doubles) -> Doubles:
    width, (low, high) = line.scale * line.inputs, line.roi
    if width == 1:
        return np.full_like(y, (high - low) * (line.inputs - 1) / 2 + low * (line.inputs - 1))
    return y * (high - low) * (line.inputs - 1) / (width - 1) + low * (line.inputs - 1)


RULES: Mapping[str, Callable[[Resized, Doubles], Doubles]] = MappingProxyType(
    {
        "align_corners": _align_corners,
        "asymmetric": lambda line, y: y / line.scale,
        "half_pixel": _half_pixel,
        "half_pixel_symmetric": _symmetric,
        "pytorch_half_pixel": _pytorch_half_pixel,
        "tf_crop_and_resize": _crop,
        "tf_half_pixel_for_nn": lambda line, y: (y + 0.5) / line.scale,
    }
)

ROUNDINGS: Mapping[str, Callable[[Doubles], Doubles]] = MappingProxyType(
    {
        "ceil": np.ceil,
        "floor": np.floor,
        "round_prefer_ceil": lambda x: np.floor(x + 0.5),
        "round_prefer_floor": lambda x: np.ceil(x - 0.5),
    }
)


def positions(line: Resized, rule: str) -> Doubles:
    """Where each output lies, in elements of the input."""
    return RULES[rule](line, np.arange(line.size, dtype=np.float64))


def nearest(line: Resized, rule: str, rounding: str) -> Positions:
    """The element that each output is."""
    indices = ROUNDINGS[rounding](positions(line, rule)).astype(np.int64)
    return np.clip(indices, 0, line.inputs - 1)


def outside(line: Resized, rule: str) -> npt.NDArray[np.bool_]:
    """The outputs that lie outside the input, where the rule gives those a value of their own."""
    x = positions(line, rule)
    return (x < 0) | (x > line.inputs - 1) if rule == "tf_crop_and_resize" else np.zeros(line.size, np.bool_)


def taps(line: Resized, rule: str, weighting: Filter) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    """For each output the first element that it needs, and the weights of that one and the following: [size, taps]."""
    table = np.zeros((line.size, line.inputs))
    for output, x in enumerate(positions(line, rule)):
        base = math.ceil(x) - 1
        weights = _weights(x - base, line.scale, weighting)
        places = base + 1 - len(weights) // 2 + np.arange(len(weights))
        if weighting.exclude_outside:
            weights = np.where((places >= 0) & (places < line.inputs), weights, 0)
            weights = weights / weights.sum() if weights.any() else weights
        np.add.at(table[output], np.clip(places, 0, line.inputs - 1), weights)
    return _compact(table)


def _weights(ratio: float, scale: float, weighting: Filter) -> Doubles:
    """Of elements around a position that is `ratio`, above 0 and up to 1, after the lower one of the middle two."""
    reach = 1 if weighting.mode == "linear" else 2
    stretch = min(scale, 1.0) if weighting.antialias else 1.0
    first = math.floor(-reach / stretch) + 1
    distances = np.abs(np.arange(first, 2 - first) - ratio) * stretch
    weights = np.clip(1 - distances, 0, 1) if reach == 1 else _cubic(distances, weighting.cubic)
    return weights / weights.sum() if weighting.antialias else weights


def _cubic(x: Doubles, a: float) -> Doubles:
    inner = (a + 2) * x**3 - (a + 3) * x**2 + 1
    outer = a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a
    return np.where(x <= 1, inner, np.where(x < 2, outer, 0.0))


def _compact(table: Doubles) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    """Without the zeros around what each row has, as wide as the widest row needs."""
    used = table != 0
    first = np.argmax(used, axis=1)
    last = table.shape[1] - 1 - np.argmax(used[:, ::-1], axis=1)
    width = int(np.max(np.where(used.any(axis=1), last - first + 1, 1), initial=1))
    start = np.minimum(first, table.shape[1] - width)
    columns = start[:, None] + np.arange(width)
    return start.astype(np.int32), np.take_along_axis(table, columns, axis=1).astype(np.float32)


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
    lines = [Resized(inputs=n, size=_floor(n * scale), scale=scale) for n, scale in zip(shape, scales, strict=False)]
    if len(scales) != len(shape):
        raise graph.refuse(node, f"there are {len(scales)} scales for {len(shape)} axes")
    roundings = ["ceil" if line.scale < 1 else "floor" for line in lines]
    _emit(node, graph, lines, node.text("mode", "nearest"), "asymmetric", roundings)


def _lines(node: OnnxNode, graph: Conversion, rule: str) -> list[Resized]:
    """One for each axis of X, from `scales` (input 2) or `sizes` (input 3), and `roi` (input 1)."""
    shape = graph.tensor(node.inputs[0]).shape
    axes = node.integers("axes") or tuple(range(len(shape)))
    if any(not -len(shape) <= axis < len(shape) for axis in axes):
        raise graph.refuse(node, f"axes {list(axes)} are not axes of a tensor with {len(shape)}")
    axes = tuple(axis % len(shape) for axis in axes)
    lines = [Resized(inputs=extent, size=extent, scale=1.0) for extent in shape]
    scales, sizes = _given(node, graph, 2), _given(node, graph, 3)
    if not scales and not sizes:
        raise graph.refuse(node, "it has neither scales nor sizes")
    if len(scales or sizes) != len(axes) or len(set(axes)) != len(axes):
        raise graph.refuse(node, f"{len(scales or sizes)} scales or sizes for {len(axes)} axes")
    if sizes:
        resized = _sized(node, graph, [shape[axis] for axis in axes], [int(size) for size in sizes])
    else:
        resized = [
            Resized(inputs=shape[axis], size=_floor(shape[axis] * scale), scale=scale)
            for axis, scale in zip(axes, scales, strict=True)
        ]
    roi = _given(node, graph, 1) if rule == "tf_crop_and_resize" else ()
    if rule == "tf_crop_and_resize" and len(roi) != 2 * len(axes):
        raise graph.refuse(node, f"roi has {len(roi)} elements, not two for each of {len(axes)} axes")
    for index, (axis, line) in enumerate(zip(axes, resized, strict=True)):
        lines[axis] = replace(line, roi=(roi[index], roi[index + len(axes)])) if roi else line
    return lines


def _given(node: OnnxNode, graph: Conversion, index: int) -> tuple[float, ...]:
    if len(node.inputs) <= index or not node.inputs[index]:
        return ()
    return tuple(float(value) for value in graph.need_constant(node, index).reshape(-1))


def _floor(extent: float) -> int:
    return math.floor(extent) if math.isfinite(extent) else -1


def _sized(node: OnnxNode, graph: Conversion, extents: Sequence[int], sizes: Sequence[int]) -> list[Resized]:
    policy = node.text("keep_aspect_ratio_policy", "stretch")
    if policy not in _POLICIES or 0 in extents:
        raise graph.refuse(node, f"keep_aspect_ratio_policy is {policy!r}, extents are {list(extents)}")
    scales = [size / extent for size, extent in zip(sizes, extents, strict=True)]
    if policy == "stretch":
        lines = zip(extents, sizes, scales, strict=True)
        return [Resized(inputs=extent, size=size, scale=scale) for extent, size, scale in lines]
    scale = min(scales) if policy == "not_larger" else max(scales)
    return [Resized(inputs=extent, size=math.floor(scale * extent + 0.5), scale=scale) for extent in extents]


def _emit(
    node: OnnxNode, graph: Conversion, lines: list[Resized], mode: str, rule: str, roundings: Sequence[str]
) -> None:
    if any(line.inputs < 1 or line.size < 1 or not 0 < line.scale < 2**31 for line in lines):
        raise graph.refuse(node, f"it makes {[line.size for line in lines]} of {[line.inputs for line in lines]}")
    if mode == "nearest":
        _emit_nearest(node, graph, lines, rule, roundings)
    elif mode in ("linear", "cubic"):
        _emit_weighted(node, graph, lines, rule, mode)
    else:
        raise graph.refuse(node, f"mode {mode!r} is none of 'nearest', 'linear', 'cubic'")


def _emit_nearest(node: OnnxNode, graph: Conversion, lines: list[Resized], rule: str, roundings: Sequence[str]) -> None:
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


def _emit_weighted(node: OnnxNode, graph: Conversion, lines: list[Resized], rule: str, mode: str) -> None:
    if graph.tensor(node.inputs[0]).dtype is not DType.F32:
        raise graph.refuse(node, f"X must be f32 for {mode} interpolation")
    weighting = Filter(
        mode=mode,
        cubic=node.number("cubic_coeff_a", -0.75),
        antialias=bool(node.integer("antialias")),
        exclude_outside=bool(node.integer("exclude_outside")),
    )
    if weighting == Filter(mode="linear", cubic=weighting.cubic):
        attributes = _linear_attributes(lines, rule)
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


def _linear_attributes(axes: Sequence[Resized], rule: str) -> dict[str, Attribute] | None:
    """The normal form for these axes of X; None where they are not spatial ones, or where no small numbers say it."""
    if not 3 <= len(axes) <= 4 or any(axis.scale != 1 for axis in axes[:2]):
        return None
    lines = [line for axis in axes[2:] if (line := _line(axis, rule)) is not None]
    if len(lines) < len(axes) - 2:
        return None
    if any(abs(line.slope) * line.size + abs(line.offset) > _LARGEST or line.divisor > _LARGEST for line in lines):
        return None
    return {
        "sizes": tuple(line.size for line in lines),
        "slopes": tuple(line.slope for line in lines),
        "offsets": tuple(line.offset for line in lines),
        "divisors": tuple(line.divisor for line in lines),
    }


def _line(axis: Resized, rule: str) -> Line | None:
    """The line of one axis; None where its scale is no ratio of small numbers, or the rule is not known here."""
    from fractions import Fraction

    factor = Fraction(axis.size, axis.inputs)
    if float(factor) != axis.scale:
        factor = Fraction(axis.scale).limit_denominator(_FINEST)
        if np.float32(float(factor)) != np.float32(axis.scale):
            return None
    return _rule(axis.inputs, axis.size, factor, rule)


def _rule(inputs: int, size: int, factor: Fraction, rule: str) -> Line | None:
    """The line of one axis; None for a rule that is not known here."""
    from fractions import Fraction

    half = Fraction(1, 2)
    slope, offset = 1 / factor, Fraction(0)
    if rule == "half_pixel" or (rule == "pytorch_half_pixel" and size > 1):
        offset = half / factor - half
    elif rule == "half_pixel_symmetric":  # the middle of what is there falls on the middle of the input
        offset = half / factor - half + Fraction(inputs, 2) * (1 - size / (factor * inputs))
    elif rule == "align_corners":
        resized = factor * inputs  # no whole number where the scale is none: so ONNX defines it
        slope = Fraction(inputs - 1) / (resized - 1) if resized != 1 else Fraction(0)
    elif rule == "pytorch_half_pixel":
        slope = Fraction(0)
    elif rule != "asymmetric":
        return None
    divisor = math.lcm(slope.denominator, offset.denominator)
    return Line(inputs=inputs, size=size, slope=int(slope * divisor), offset=int(offset * divisor), divisor=divisor)


def _cropped(node: OnnxNode, graph: Conversion, value: str, lines: list[Resized], rule: str) -> str:
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
