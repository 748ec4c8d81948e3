"""Knows QSoftmax: softmax of values of 8 bits along one axis in integers, over a table of exponentials.
Does not know floats; Softmax computes those. What is computed of 16 bits is in `arithmetic.wide_softmax`.

Attributes: `axis`, `x_scale`, `y_scale` (float32 values), `zero_point`, `low`, `high` of the output. For a row of n
elements whose largest is m, with all divisions rounding down:

    peak    = min(2**31, floor(2**31 / (n * y_scale)))
    T[d]    = rint(exp(-d * x_scale) * peak)      in float64, at compile time, for d = 0 .. 255
    scale   = rint(y_scale * 2**31)
    divisor = (sum(T[m - x]) * scale + 2**30) / 2**31
    y       = clamp((T[m - x] + divisor / 2) / divisor + zero_point, low, high)

Everything fits 32 bits but the sum and its product with `scale`, which fit 64. An entry of T is at most 1/2 off, so
the result is at most one step from the softmax in floats followed by QuantizeLinear, for rows up to 2**15 elements.

With `rounding` "tflm" it is the fixed point of `arithmetic.fixed_softmax` instead: `y_scale` is 1/256 then, and T has
the exponentials of that module.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from tilewright.arithmetic import fixed_softmax
from tilewright.ir.access.index_map import Access, parse_map
from tilewright.ir.graphs.graph import Site, Tensor
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel
from tilewright.operators.c_code.c_source import c_template
from tilewright.operators.c_code.walk import NEST, nest, walk
from tilewright.operators.quantised.qsoftmax_wide import QSOFTMAX_WIDE, wide_reference
from tilewright.operators.quantised.softmax_rows import TFLM, axis_of, softmax_map
from tilewright.operators.shared.integer_sites import BYTE_TYPES, centred, not_bytes, output_dtype
from tilewright.operators.shared.refusals import shape_error

Array = npt.NDArray[np.generic]

_LONGEST = 2**15
_SMALLEST_SCALE, _LARGEST_SCALE = 2.0**-16, 2.0


def _infer(site: Site) -> tuple[Tensor, ...]:
    x, axis = site.input(0), site.node.integer("axis", -1)
    if not -len(x.shape) <= axis < len(x.shape):
        raise shape_error(site, f"axis {axis} is not an axis of X")
    dtype = output_dtype(site, site.node.integer("low"), site.node.integer("high"))
    return (Tensor(name=site.node.outputs[0], dtype=dtype, shape=x.shape),)


def exponentials(length: int, x_scale: float, y_scale: float) -> npt.NDArray[np.uint32]:
    """The table T for rows of `length` elements, without the zeros at its end."""
    peak = min(2**31, math.floor(2**31 / (length * y_scale)))
    table = np.rint(np.exp(-np.arange(256) * x_scale) * peak)
    trimmed: npt.NDArray[np.uint32] = table[: int(np.count_nonzero(table))].astype(np.uint32)
    return trimmed


def table_of(site: Site) -> npt.NDArray[np.uint32]:
    """The table T of a node, without the zeros at its end."""
    if site.node.rounding == TFLM:
        return np.array(fixed_softmax.exponentials(site.node.number("x_scale")), np.uint32)
    node, length = site.node, site.input(0).shape[axis_of(site)]
    return exponentials(length, node.number("x_scale"), node.number("y_scale"))


def _scale(site: Site) -> int:
    return round(site.node.number("y_scale") * 2**31)


def _reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    node, axis, x = site.node, axis_of(site), centred(inputs[0])
    if site.input(0).dtype not in BYTE_TYPES:
        return (wide_reference(site, x).astype(site.output.dtype.numpy),)
    table = np.zeros(256, np.int64)
    table[: len(table_of(site))] = table_of(site)
    if node.rounding == TFLM:
        y = np.apply_along_axis(fixed_softmax.row, axis, x, table, node.integer("zero_point"))
        return (np.clip(y, node.integer("low"), node.integer("high")).astype(site.output.dtype.numpy),)
    entries = table[x.max(axis=axis, keepdims=True) - x]
    divisor = (entries.sum(axis=axis, keepdims=True) * _scale(site) + 2**30) >> 31
    y = (entries + divisor // 2) // divisor + node.integer("zero_point")
    limited = np.minimum(np.maximum(y, node.integer("low")), node.integer("high"))
    return (limited.astype(site.output.dtype.numpy),)


def _packed_access(site: Site) -> Access:
    shapes = {"X": site.input(0).shape, "T": table_of(site).shape, "Y": site.output.shape}
    return parse_map(softmax_map(site, "T[:]")).bind(shapes)


def refused(site: Site) -> str | None:
    """Why a node is refused, or None."""
    length = site.input(0).shape[axis_of(site)]
    x_scale, y_scale = site.node.number("x_scale"), site.node.number("y_scale")
    if site.node.rounding == TFLM:
        return refused_fixed(site) or not_bytes(site, 0)
    if not 1 <= length <= _LONGEST:
        return f"rows have {length} elements; integer softmax is exact enough up to {_LONGEST}"
    if not (math.isfinite(x_scale) and x_scale > 0 and _SMALLEST_SCALE <= y_scale < _LARGEST_SCALE):
        return f"scales {x_scale!r} and {y_scale!r}; y_scale must lie between {_SMALLEST_SCALE} and {_LARGEST_SCALE}"
    return not_bytes(site, 0)


def refused_fixed(site: Site) -> str | None:
    """Why the fixed point of `tflm` has no result for a node, or None."""
    length, node = site.input(0).shape[axis_of(site)], site.node
    if node.number("y_scale") != 1 / 256 or node.integer("zero_point") != site.output.dtype.limits[0]:
        return "softmax of tflm has a result of scale 1/256, whose lowest value is 0"
    if not 1 <= length <= fixed_softmax.LONGEST:
        return f"rows have {length} elements; softmax of tflm has at most {fixed_softmax.LONGEST}"
    return None if node.number("x_scale") > 2.0**-26 else "softmax of tflm needs an input scale above 2**-26"


def _values(call: Call) -> Mapping[str, object]:
    node, x, y, axis = call.site.node, call.operands["X"], call.operands["Y"], axis_of(call.site)
    rows = [index for index in range(len(x.shape)) if index != axis]
    steps = {name: [operand.strides[index] for index in rows] for name, operand in (("X", x), ("Y", y))}
    loops = nest(walk([y.extents[index] for index in rows], steps, "Y"), 0)
    fixed = node.rounding == TFLM
    return {
        "fixed": fixed,
        "function": f"tw_qsoftmax_{x.dtype.value}_{y.dtype.value}{'_tflm' * fixed}",
        "x_type": x.dtype.c_type,
        "y_type": y.dtype.c_type,
        "nest": loops.headers,
        "at": loops.offsets,
        "fields": {
            "count": y.shape[axis],
            "x_step": x.strides[axis],
            "y_step": y.strides[axis],
            "entries": len(table_of(call.site)),
            "scale": f"UINT32_C({_scale(call.site)})",
            "zero_point": node.integer("zero_point"),
            "low": node.integer("low"),
            "high": node.integer("high"),
        },
    }


_TABLED = c_template("${function}", "qsoftmax.c.mako")
_FIXED = c_template("${function}", "qsoftmax_tflm.c.mako")

QSOFTMAX = Operator(
    name="QSoftmax",
    inputs=("X",),
    outputs=("Y",),
    summary="softmax of integers along one axis, in integers",
    infer=_infer,
    reference=_reference,
    access=lambda site: parse_map(softmax_map(site, "")).bind({"X": site.input(0).shape, "Y": site.output.shape}),
)

QSOFTMAX_PORTABLE = Kernel(
    name="portable.qsoftmax",
    op="QSoftmax",
    roundings=("onnx", "tflm"),
    parallel=("*",),
    match=refused,
    access=_packed_access,
    pack=lambda site: {"T": table_of(site)},
    in_place=lambda site: (("X", "Y"),),
    values=_values,
    source=lambda values: (_FIXED if values["fixed"] else _TABLED,),
    call=NEST
    + """\
${function}((tw_qsoftmax){
% for name, value in fields.items():
    .${name} = ${value},
% endfor
}, ${X}${at["X"]}, ${T}, ${Y}${at["Y"]});""",
)

OPERATORS = (QSOFTMAX,)
KERNELS = (QSOFTMAX_PORTABLE, QSOFTMAX_WIDE)
