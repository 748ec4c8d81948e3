"""Knows Upsample, which repeats elements a whole number of times, and Resample, which sums neighbours with weights.
Does not know how the weights come about, nor which Resize becomes which (`resize`), nor interpolation (`interpolate`).

Normal form: Upsample has `factors`, one for each axis; only elements move, so any type is taken as it is. Resample has
`axis`, on floats, and constants I[size], i32, the first element that each output needs, and W[size, taps].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from tilewright.ir.access.index_map import Access, parse_map
from tilewright.ir.graphs.graph import Site, Tensor
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel
from tilewright.operators.c_code.c_elements import c_sum
from tilewright.operators.c_code.c_source import c_fragment, c_template
from tilewright.operators.c_code.walk import NEST, nest, walk
from tilewright.operators.convolution.resize import IMPORTS
from tilewright.operators.shared.float_results import dot_tolerance, rounded
from tilewright.operators.shared.refusals import not_float32, shape_error

Array = npt.NDArray[np.generic]
Doubles = npt.NDArray[np.float64]


def _infer(site: Site) -> tuple[Tensor, ...]:
    x, first, weights, axis = site.input(0), site.constant(1), site.constant(2), site.node.integer("axis")
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
    x = np.moveaxis(np.asarray(inputs[0], np.float64), site.node.integer("axis"), -1)
    first, weights = np.asarray(inputs[1], np.int64), np.asarray(inputs[2], np.float64)
    if magnitude:
        x, weights = np.abs(x), np.abs(weights)
    with np.errstate(invalid="ignore"):
        sums = sum((x[..., first + tap] * weights[:, tap] for tap in range(weights.shape[1])), np.float64(0))
    return np.asarray(np.moveaxis(np.asarray(sums), -1, site.node.integer("axis")), np.float64)


def _access(site: Site) -> Access:
    """Which elements a tile needs only the constants say, so the axis is whole."""
    axis, loops = site.node.integer("axis"), [f"a{index}" for index in range(len(site.output.shape))]
    reads = ",".join(":" if index == axis else loop for index, loop in enumerate(loops))
    text = f"{' '.join(loops)} : X[{reads}] I[a{axis}] W[a{axis},:] -> Y[{','.join(loops)}]"
    shapes = {"X": site.input(0).shape, "I": site.input(1).shape, "W": site.input(2).shape, "Y": site.output.shape}
    return parse_map(text).bind(shapes)


def _values(call: Call) -> Mapping[str, object]:
    x, y, axis = call.operands["X"], call.operands["Y"], call.site.node.integer("axis")
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
    reference=lambda site, inputs: (rounded(_sums(site, inputs)),),
    access=_access,
    tolerance=lambda site, inputs: (
        dot_tolerance(site.input(2).shape[1], _sums(site, inputs, magnitude=True), _sums(site, inputs)),
    ),
    macs=lambda site: site.output.elements * site.input(2).shape[1],
)

RESAMPLE_F32 = Kernel(
    name="portable.resample_f32",
    op="Resample",
    parallel=("*",),
    match=not_float32,
    values=_values,
    source=(c_fragment("resample.c"),),
    call=NEST
    + "tw_resample_f32(${size}, ${taps}, ${X}${at['X']}, ${x_step}, ${I}, ${i_step}, ${W}, ${w_row}, ${w_step}, "
    + "${Y}${at['Y']}, ${y_step});",
)


def _upsample_infer(site: Site) -> tuple[Tensor, ...]:
    x, factors = site.input(0), site.node.integers("factors")
    if len(factors) != len(x.shape) or any(factor < 1 for factor in factors):
        raise shape_error(site, "factors are whole numbers from 1 on, one for each axis")
    shape = tuple(extent * factor for extent, factor in zip(x.shape, factors, strict=True))
    return (Tensor(name=site.node.outputs[0], dtype=x.dtype, shape=shape),)


def _upsample_reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    value = np.asarray(inputs[0])
    for axis, factor in enumerate(site.node.integers("factors")):
        value = np.repeat(value, factor, axis=axis)
    return (value,)


def _upsample_access(site: Site) -> Access:
    factors = site.node.integers("factors")
    loops = [f"a{axis}" for axis in range(len(factors))]
    reads = [loop if factor == 1 else f"{loop}//{factor}" for loop, factor in zip(loops, factors, strict=True)]
    text = f"{' '.join(loops)} : X[{','.join(reads)}] -> Y[{','.join(loops)}]"
    return parse_map(text).bind({"X": site.input(0).shape, "Y": site.output.shape})


def _upsample_values(call: Call) -> Mapping[str, object]:
    """Loops in the order in which the output is stored; an axis of one factor and one element costs nothing."""
    x, y, factors = call.operands["X"], call.operands["Y"], call.site.node.integers("factors")
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


UPSAMPLE = Operator(
    name="Upsample",
    inputs=("X",),
    outputs=("Y",),
    summary="every element repeated along each axis (Resize to the nearest, by whole factors)",
    infer=_upsample_infer,
    reference=_upsample_reference,
    access=_upsample_access,
    imports=IMPORTS,
)

UPSAMPLE_COPY = Kernel(
    name="portable.upsample",
    op="Upsample",
    parallel=("*",),
    values=_upsample_values,
    source=(c_template("${function}", "upsample.c.mako"),),
    call="${function}(${arguments});",
)

OPERATORS = (
    RESAMPLE,
    UPSAMPLE,
)
KERNELS = (
    RESAMPLE_F32,
    UPSAMPLE_COPY,
)
