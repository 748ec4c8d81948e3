"""Knows Resize by linear interpolation along the spatial axes, on floats: two neighbours along each axis, weighted.
Does not know plain repetition (`upsample`), nor other weights or scales that are no small ratios (`resample`).

Normal form: for the spatial axes `sizes` of the output, and integers `slopes`, `offsets` and `divisors`: output i
lies at (slope * i + offset) / divisor of the input. Positions before the first element and after the last one take
that element. Source: ONNX Resize-11 to 19; the coordinate rules are `_rule`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tilewright.ir.access.index_map import Access, parse_map
from tilewright.ir.graphs.graph import Site, Tensor
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.c_code.c_elements import c_initialiser
from tilewright.operators.c_code.c_source import c_fragment
from tilewright.operators.shared.float_results import dot_tolerance
from tilewright.operators.shared.refusals import not_float32, shape_error
from tilewright.operators.shared.windows import prefers_channels_last

Array = npt.NDArray[np.generic]
Doubles = npt.NDArray[np.float64]

_LOOPS = ("h", "w")


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


def lines_of(site: Site) -> tuple[Line, ...]:
    """Of the spatial axes, in order."""
    names = ("sizes", "slopes", "offsets", "divisors")
    numbers = zip(site.input(0).shape[2:], *(site.node.integers(name) for name in names), strict=True)
    return tuple(
        Line(inputs=inputs, size=size, slope=slope, offset=offset, divisor=divisor)
        for inputs, size, slope, offset, divisor in numbers
    )


def _infer(site: Site) -> tuple[Tensor, ...]:
    return (resized(site, site.input(0).dtype),)


def resized(site: Site, dtype: DType) -> Tensor:
    """The result, of that type."""
    x = site.input(0)
    if not 3 <= len(x.shape) <= 4 or len(site.node.integers("sizes")) != len(x.shape) - 2:
        raise shape_error(site, "X is [N, C, W] or [N, C, H, W], and there is a size for each spatial axis")
    if 0 in x.shape or any(divisor < 1 for divisor in site.node.integers("divisors")):
        raise shape_error(site, "X has no element, or a divisor is not positive")
    return Tensor(name=site.node.outputs[0], dtype=dtype, shape=(*x.shape[:2], *site.node.integers("sizes")))


def _exact(site: Site, x: Doubles) -> Doubles:
    for axis, line in enumerate(lines_of(site), start=2):
        before, after, share = line.neighbours()
        weights = share.reshape(-1, *(1,) * (x.ndim - axis - 1))
        x = np.take(x, before, axis) * (1 - weights) + np.take(x, after, axis) * weights
    return x


def _tolerance(site: Site, inputs: Sequence[Array | None]) -> tuple[Array | None, ...]:
    x = np.asarray(inputs[0], np.float64)
    return (dot_tolerance(4, _exact(site, np.abs(x)), _exact(site, x)),)


def line_access(site: Site) -> Access:
    """Two neighbours along each axis."""
    lines = lines_of(site)
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


def line_values(call: Call) -> Mapping[str, object]:
    """The fields of a `tw_resize_linear`."""
    x, y, lines = call.operands["X"], call.operands["Y"], lines_of(call.site)
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
        axes[name] = c_initialiser(fields)
    fields = {
        "batches": y.extents[0],
        "channels": y.extents[1],
        "x_batch": x.strides[0],
        "x_channel": x.strides[1],
        "y_batch": y.strides[0],
        "y_channel": y.strides[1],
    }
    return {"fields": {**fields, **axes}}


RESIZE_LINEAR = Operator(
    name="ResizeLinear",
    inputs=("X",),
    outputs=("Y",),
    summary="another size by linear interpolation along spatial axes",
    infer=_infer,
    reference=lambda site, inputs: (_exact(site, np.asarray(inputs[0], np.float64)).astype(np.float32),),
    access=line_access,
    tolerance=_tolerance,
    macs=lambda site: 4 * site.output.elements,
)

RESIZE_LINEAR_F32 = Kernel(
    name="portable.resize_linear_f32",
    op="ResizeLinear",
    match=not_float32,
    prefers=prefers_channels_last,
    parallel=("c", "h", "w"),
    values=line_values,
    source=(c_fragment("interpolate.c"),),
    call="""\
tw_resize_linear_f32((tw_resize_linear){
% for name, value in fields.items():
        .${name} = ${value},
% endfor
    }, ${X}, ${Y});""",
)

OPERATORS = (RESIZE_LINEAR,)
KERNELS = (RESIZE_LINEAR_F32,)
