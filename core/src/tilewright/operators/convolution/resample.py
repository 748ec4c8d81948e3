"""Knows Resample: along one axis, every output is a sum of neighbouring elements with weights of its own, on floats.
Does not know how the weights come about (`resize_rules`), nor repetition and two neighbours on a line (`interpolate`).

Normal form: attribute `axis`; constants I[size], i32, the first element that each output needs, and W[size, taps].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from tilewright.ir.access.index_map import Access, parse_map
from tilewright.ir.graphs.graph import Site, Tensor
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.c_code.c_source import c_fragment
from tilewright.operators.c_code.loop_nest import NEST, nest
from tilewright.operators.c_code.walk import walk
from tilewright.operators.shared.float_error import dot_tolerance
from tilewright.operators.shared.shape_errors import shape_error

Array = npt.NDArray[np.generic]
Doubles = npt.NDArray[np.float64]


def _axis(site: Site) -> int:
    return site.node.integer("axis")


def _infer(site: Site) -> tuple[Tensor, ...]:
    x, first, weights, axis = site.input(0), site.constant(1), site.constant(2), _axis(site)
    if first is None or weights is None or weights.ndim != 2 or first.shape != weights.shape[:1]:
        raise shape_error(site, "I[size] and W[size, taps] must be constants")
    if not 0 <= axis < len(x.shape):
        raise shape_error(site, f"there is no axis {axis}")
    lowest, highest = (int(first.min()), int(first.max())) if first.size else (0, 0)
    if lowest < 0 or highest + weights.shape[1] > x.shape[axis]:
        raise shape_error(site, "an output needs elements outside X")
    shape = (*x.shape[:axis], weights.shape[0], *x.shape[axis + 1 :])
    return (Tensor(name=site.node.outputs[0], dtype=x.dtype, shape=shape),)


def _sums(site: Site, inputs: Sequence[Array | None], *, magnitude: bool = False) -> Doubles:
    x = np.moveaxis(np.asarray(inputs[0], np.float64), _axis(site), -1)
    first, weights = np.asarray(inputs[1], np.int64), np.asarray(inputs[2], np.float64)
    if magnitude:
        x, weights = np.abs(x), np.abs(weights)
    with np.errstate(invalid="ignore"):
        sums = sum((x[..., first + tap] * weights[:, tap] for tap in range(weights.shape[1])), np.float64(0))
    return np.asarray(np.moveaxis(np.asarray(sums), -1, _axis(site)), np.float64)


def _reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    with np.errstate(over="ignore"):
        return (_sums(site, inputs).astype(np.float32),)


def _tolerance(site: Site, inputs: Sequence[Array | None]) -> tuple[Array | None, ...]:
    taps = site.input(2).shape[1]
    return (dot_tolerance(taps, _sums(site, inputs, magnitude=True), _sums(site, inputs)),)


def _access(site: Site) -> Access:
    """Which elements a tile needs only the constants say, so the axis is whole."""
    axis, loops = _axis(site), [f"a{index}" for index in range(len(site.output.shape))]
    reads = ",".join(":" if index == axis else loop for index, loop in enumerate(loops))
    text = f"{' '.join(loops)} : X[{reads}] I[a{axis}] W[a{axis},:] -> Y[{','.join(loops)}]"
    shapes = {"X": site.input(0).shape, "I": site.input(1).shape, "W": site.input(2).shape, "Y": site.output.shape}
    return parse_map(text).bind(shapes)


def _match(site: Site) -> str | None:
    return None if site.input(0).dtype is DType.F32 else f"X must be f32, found {site.input(0).dtype.value}"


def _values(call: Call) -> Mapping[str, object]:
    x, y, axis = call.operands["X"], call.operands["Y"], _axis(call.site)
    others = [index for index in range(len(y.shape)) if index != axis]
    steps = {"X": [x.strides[index] for index in others], "Y": [y.strides[index] for index in others]}
    outer = nest(walk([y.extents[index] for index in others], steps, "Y"), 0)
    return {
        "nest": outer.headers,
        "at": outer.offsets,
        "size": y.extents[axis],
        "taps": call.operands["W"].extents[1],
        "x_step": x.strides[axis],
        "i_step": call.operands["I"].strides[0],
        "w_row": call.operands["W"].strides[0],
        "w_step": call.operands["W"].strides[1],
        "y_step": y.strides[axis],
    }


RESAMPLE = Operator(
    name="Resample",
    inputs=("X", "I", "W"),
    outputs=("Y",),
    summary="weighted sums of neighbours along an axis (Resize by cubic, antialiased or any other interpolation)",
    infer=_infer,
    reference=_reference,
    access=_access,
    tolerance=_tolerance,
    macs=lambda site: site.output.elements * site.input(2).shape[1],
)

RESAMPLE_F32 = Kernel(
    name="portable.resample_f32",
    op="Resample",
    parallel=("*",),
    match=_match,
    values=_values,
    source=(c_fragment("resample.c"),),
    call=NEST
    + "tw_resample_f32(${size}, ${taps}, ${X}${at['X']}, ${x_step}, ${I}, ${i_step}, ${W}, ${w_row}, ${w_step}, "
    + "${Y}${at['Y']}, ${y_step});",
)

OPERATORS = (RESAMPLE,)
KERNELS = (RESAMPLE_F32,)
