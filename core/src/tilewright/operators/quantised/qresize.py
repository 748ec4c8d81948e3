"""Knows QResizeLinear: linear interpolation of values of 8 or 16 bits along spatial axes, an exact sum requantised.
Does not know floats; `interpolate` computes those, and has the positions.

The normal form of ResizeLinear, `x_zero_point`, and `requant` with one scale. Along an axis an output lies between two
neighbours, whose weights are whole numbers that add up to the divisor of the axis: so

    acc = sum(weight * (x - x_zero_point)) over two or four neighbours, requantised; the divisors are inside the scale.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tilewright.arithmetic.bounds import AccumulatorBounds, product_bounds
from tilewright.ir.graphs.graph import Site
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, CodeFragments, Kernel
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.requant import requantise
from tilewright.operators.c_code.c_source import c_template
from tilewright.operators.convolution.interpolate import line_access, line_values, lines_of, resized
from tilewright.operators.shared.c_rounding import c_requant, c_rounding, c_words, channel_words, described, too_wide
from tilewright.operators.shared.integer_sites import centred, input_range, not_values, requant_dtype
from tilewright.operators.shared.windows import prefers_channels_last

Array = npt.NDArray[np.generic]
Integers = npt.NDArray[np.int64]


def most_weight(dtype: DType) -> int:
    """Of all neighbours: sums of stored values, and of zero points, fit 32 bits."""
    return 2**31 >> (8 * dtype.size_bytes)


def _weight(site: Site) -> int:
    return math.prod(site.node.integers("divisors"))


def _sums(site: Site, x: Integers) -> Integers:
    for axis, line in enumerate(lines_of(site), start=2):
        before, after, share = line.neighbours()
        weights = np.rint(share * line.divisor).astype(np.int64).reshape(-1, *(1,) * (x.ndim - axis - 1))
        x = np.take(x, before, axis) * (line.divisor - weights) + np.take(x, after, axis) * weights
    return x


def _reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    acc = _sums(site, centred(inputs[0], site.node.integer("x_zero_point")))
    return (requantise(acc, site.node.requant(), -1).astype(site.output.dtype.numpy),)


def resize_bounds(site: Site) -> AccumulatorBounds:
    """Range of the sums, the same for all outputs."""
    (low, high), zero, weight = input_range(site), site.node.integer("x_zero_point"), _weight(site)
    return product_bounds((low - zero, high - zero), (weight, weight))


def _match(site: Site) -> str | None:
    if len(site.node.requant().scale) > 1:
        return "QResizeLinear has one scale for all"
    reason = not_values(site, 0)
    if reason is None and _weight(site) > most_weight(site.input(0).dtype):
        dtype = site.input(0).dtype
        return f"weights of {_weight(site)} in all; 32-bit sums of {dtype.value} hold {most_weight(dtype)}"
    return reason or too_wide(site.node.requant(), resize_bounds(site))


def _values(call: Call) -> Mapping[str, object]:
    node, requant, bounds = call.site.node, call.site.node.requant(), resize_bounds(call.site)
    x, y, rounding = call.operands["X"].dtype, call.operands["Y"].dtype, c_rounding(requant)
    (words,) = channel_words(requant, bounds, node.name)
    return {
        **line_values(call),
        "function": f"tw_qresize_linear_{x.value}_{y.value}{rounding.suffix}",
        "x_type": x.c_type,
        "y_type": y.c_type,
        "bits": 32,
        "rounding": rounding,
        "zeros": _weight(call.site) * node.integer("x_zero_point"),
        "word": c_words(words),
        "requant": c_requant(requant, bounds, node.name),
    }


def _source(values: Mapping[str, Any]) -> CodeFragments:
    return (c_template("${function}", "qresize.c.mako", values["rounding"].section),)


QRESIZE_LINEAR = Operator(
    name="QResizeLinear",
    inputs=("X",),
    outputs=("Y",),
    summary="another size of integers by linear interpolation, an exact sum requantised",
    infer=lambda site: (resized(site, requant_dtype(site)),),
    reference=_reference,
    access=line_access,
    macs=lambda site: 4 * site.output.elements,
)

QRESIZE_LINEAR_PORTABLE = Kernel(
    name="portable.qresize_linear",
    op="QResizeLinear",
    roundings=("*",),
    match=_match,
    prefers=prefers_channels_last,
    parallel=("c", "h", "w"),
    describe=lambda site: described(site.node.requant(), resize_bounds(site), site.node.name),
    values=_values,
    source=_source,
    call="""\
${function}((tw_resize_linear){
% for name, value in fields.items():
        .${name} = ${value},
% endfor
    }, ${zeros}, ${word}, (tw_requant)${requant}, ${X}, ${Y});""",
)

OPERATORS = (QRESIZE_LINEAR,)
KERNELS = (QRESIZE_LINEAR_PORTABLE,)
