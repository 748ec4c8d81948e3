"""Knows Resize by linear interpolation along the spatial axes, on floats: two neighbours along each axis, weighted.
Does not know plain repetition (`upsample`), cubic interpolation, nor antialiasing.

Normal form: for the spatial axes `sizes` of the output, and integers `slopes`, `offsets` and `divisors`: output i
lies at (slope * i + offset) / divisor of the input. Positions before the first element and after the last one take
that element. Source: ONNX Resize-11 to 19; the coordinate rules are `_rule`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np
import numpy.typing as npt

from tilewright.ir.access import Access, parse_map
from tilewright.ir.dtypes import DType
from tilewright.ir.graph import Attribute, Site, Tensor
from tilewright.ir.importing import Conversion, OnnxNode
from tilewright.ir.kernel import Call, Kernel
from tilewright.ir.layout import Layout, channels_last
from tilewright.ir.operator import Operator
from tilewright.operators.c_source import c_section
from tilewright.operators.float_error import dot_tolerance
from tilewright.operators.import_checks import need_types
from tilewright.operators.shape_errors import shape_error

Array = npt.NDArray[np.generic]
Doubles = npt.NDArray[np.float64]

_LOOPS = ("h", "w")
_LARGEST = 2**30  # numerators of positions stay within int32_t
_FINEST = 4096  # denominator of a scale


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Where the outputs along one axis lie: output i at (slope * i + offset) / divisor of `inputs` elements."""

    inputs: int
    size: int
    slope: int
    offset: int
    divisor: int

    def neighbours(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Doubles]:
        """For each output the element before it, the one after it, and the weight of the latter."""
        position = self.slope * np.arange(self.size, dtype=np.int64) + self.offset
        before = position // self.divisor
        share = (position - before * self.divisor) / self.divisor
        last = self.inputs - 1
        return np.clip(before, 0, last), np.clip(before + 1, 0, last), np.asarray(share, np.float64)


def _lines(site: Site) -> tuple[Line, ...]:
    names = ("sizes", "slopes", "offsets", "divisors")
    numbers = zip(site.input(0).shape[2:], *(site.node.integers(name) for name in names), strict=True)
    return tuple(
        Line(inputs=inputs, size=size, slope=slope, offset=offset, divisor=divisor)
        for inputs, size, slope, offset, divisor in numbers
    )


def _infer(site: Site) -> tuple[Tensor, ...]:
    x = site.input(0)
    if not 3 <= len(x.shape) <= 4 or len(site.node.integers("sizes")) != len(x.shape) - 2:
        raise shape_error(site, "X is [N, C, W] or [N, C, H, W], and there is a size for each spatial axis")
    if 0 in x.shape or any(divisor < 1 for divisor in site.node.integers("divisors")):
        raise shape_error(site, "X has no element, or a divisor is not positive")
    return (Tensor(name=site.node.outputs[0], dtype=x.dtype, shape=(*x.shape[:2], *site.node.integers("sizes"))),)


def _exact(site: Site, x: Doubles) -> Doubles:
    for axis, line in enumerate(_lines(site), start=2):
        before, after, share = line.neighbours()
        weights = share.reshape(-1, *(1,) * (x.ndim - axis - 1))
        x = np.take(x, before, axis) * (1 - weights) + np.take(x, after, axis) * weights
    return x


def _reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    return (_exact(site, np.asarray(inputs[0], np.float64)).astype(np.float32),)


def _tolerance(site: Site, inputs: Sequence[Array | None]) -> tuple[Array | None, ...]:
    x = np.asarray(inputs[0], np.float64)
    return (dot_tolerance(4, _exact(site, np.abs(x)), _exact(site, x)),)


def _access(site: Site) -> Access:
    lines = _lines(site)
    loops = _LOOPS[-len(lines) :]
    reads: list[str] = []
    values: dict[str, int] = {}
    for loop, line in zip(loops, lines, strict=True):
        reads.append(f"clamp((s{loop}*{loop}+o{loop})//d{loop}+t{loop}, 0, l{loop})")
        values |= {
            f"s{loop}": line.slope,
            f"o{loop}": line.offset,
            f"d{loop}": line.divisor,
            f"l{loop}": line.inputs - 1,
        }
    taps = " ".join(f"t{loop}<2" for loop in loops)
    text = f"n c {' '.join(loops)} {taps} : X[n,c,{','.join(reads)}] -> Y[n,c,{','.join(loops)}]"
    return parse_map(text).bind({"X": site.input(0).shape, "Y": site.output.shape}, values)


def _match(site: Site) -> str | None:
    return None if site.input(0).dtype is DType.F32 else f"X must be f32, found {site.input(0).dtype.value}"


def _prefers(site: Site) -> Mapping[str, Layout]:
    layout = channels_last(len(site.output.shape))
    return {"X": layout, "Y": layout}


def _values(call: Call) -> Mapping[str, object]:
    x, y, lines = call.operands["X"], call.operands["Y"], _lines(call.site)
    axes = dict.fromkeys(("row", "column"), "{.outputs = 1, .divisor = 1}")
    for axis, name in enumerate(("row", "column")[-len(lines) :]):
        at, line = axis + 2, lines[axis]
        fields = {
            "outputs": y.extents[at],
            "first": y.origin[at],
            "slope": line.slope,
            "offset": line.offset,
            "divisor": line.divisor,
            "last": line.inputs - 1,
            "origin": x.origin[at],
            "x_step": x.strides[at],
            "y_step": y.strides[at],
        }
        axes[name] = "{" + ", ".join(f".{field} = {value}" for field, value in fields.items()) + "}"
    fields = {
        "batches": y.extents[0],
        "channels": y.extents[1],
        "x_batch": x.strides[0],
        "x_channel": x.strides[1],
        "y_batch": y.strides[0],
        "y_channel": y.strides[1],
    }
    return {"fields": {**fields, **axes}}


# --- import


def emit_linear(node: OnnxNode, graph: Conversion, scales: Sequence[float], sizes: Sequence[int], rule: str) -> None:
    """ResizeLinear for factors, or (`sizes` not empty) for extents, one for each axis of X, by a coordinate rule."""
    need_types(node, graph, DType.F32, first=1)
    shape = graph.tensor(node.inputs[0]).shape
    if not 3 <= len(shape) <= 4 or 0 in shape:
        raise graph.refuse(node, f"linear interpolation is for [N, C, W] and [N, C, H, W], X is {list(shape)}")
    factors = [_factor(node, graph, scale) for scale in scales]
    if sizes:
        factors = [Fraction(size, extent) for size, extent in zip(sizes, shape, strict=False)]
    if len(factors) != len(shape) or any(factor <= 0 for factor in factors) or factors[:2] != [1, 1]:
        raise graph.refuse(node, "linear interpolation is along spatial axes: N and C keep their extents")
    extents = list(sizes) or [int(extent * factor) for extent, factor in zip(shape, factors, strict=True)]
    lines = [_rule(*one, rule) for one in zip(shape[2:], extents[2:], factors[2:], strict=True)]
    if None in lines:
        raise graph.refuse(node, f"coordinates by {rule!r} are not supported with linear interpolation")
    found = [line for line in lines if line is not None]
    if any(abs(line.slope) * line.size + abs(line.offset) > _LARGEST or line.divisor > _LARGEST for line in found):
        raise graph.refuse(node, "the scale is no ratio of small numbers")
    names: dict[str, Attribute] = {
        "sizes": tuple(line.size for line in found),
        "slopes": tuple(line.slope for line in found),
        "offsets": tuple(line.offset for line in found),
        "divisors": tuple(line.divisor for line in found),
    }
    graph.emit(node, "ResizeLinear", node.inputs[:1], node.outputs, names)


def _factor(node: OnnxNode, graph: Conversion, scale: float) -> Fraction:
    factor = Fraction(scale).limit_denominator(_FINEST)
    if np.float32(float(factor)) != np.float32(scale):
        raise graph.refuse(node, f"the scale {scale:g} is no ratio of small numbers; export with sizes")
    return factor


def _rule(inputs: int, size: int, factor: Fraction, rule: str) -> Line | None:
    """The line of one axis; None for a rule that is not known here."""
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
    divisor = lcm(slope.denominator, offset.denominator)
    return Line(inputs=inputs, size=size, slope=int(slope * divisor), offset=int(offset * divisor), divisor=divisor)


RESIZE_LINEAR = Operator(
    name="ResizeLinear",
    inputs=("X",),
    outputs=("Y",),
    summary="another size by linear interpolation along spatial axes",
    infer=_infer,
    reference=_reference,
    access=_access,
    tolerance=_tolerance,
    macs=lambda site: 4 * site.output.elements,
)

RESIZE_LINEAR_F32 = Kernel(
    name="portable.resize_linear_f32",
    op="ResizeLinear",
    match=_match,
    prefers=_prefers,
    parallel=("c", "h", "w"),
    values=_values,
    source=(c_section("interpolate.c"),),
    call="""\
tw_resize_linear_f32((tw_resize_linear){
% for name, value in fields.items():
        .${name} = ${value},
% endfor
    }, ${X}, ${Y});""",
)

OPERATORS = (RESIZE_LINEAR,)
KERNELS = (RESIZE_LINEAR_F32,)
