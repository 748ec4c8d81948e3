"""Knows the portable kernel of QSoftmax of 16-bit values. Does not know what it is; `arithmetic.wide_softmax` does."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from tilewright.arithmetic import wide_softmax
from tilewright.ir.access.index_map import Access, parse_map
from tilewright.ir.graphs.graph import Site
from tilewright.ir.machines.kernel import Call, Kernel
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.c_code.c_elements import c_initialiser
from tilewright.operators.c_code.c_source import c_template
from tilewright.operators.c_code.walk import NEST, nest, walk
from tilewright.operators.quantised.softmax_rows import TFLM, axis_of, softmax_map
from tilewright.operators.shared.integer_sites import BYTE_TYPES, not_values

Array = npt.NDArray[np.generic]
Integers = npt.NDArray[np.int64]

_SCALES = (2.0**-16, 1.0)


def wide_table(site: Site) -> Array:
    """The table of a node of 16 bits."""
    if site.node.rounding == TFLM:
        return wide_softmax.fixed_tables()
    return wide_softmax.factors(site.node.number("x_scale"))


def wide_reference(site: Site, x: Integers) -> Integers:
    """The results of values `x`, limits included."""
    node, table = site.node, wide_table(site).astype(np.int64)
    if node.rounding == TFLM:
        y = np.apply_along_axis(wide_softmax.fixed_row, axis_of(site), x, table, node.number("x_scale"))
    else:
        every = np.ones(x.shape, bool)
        rows = wide_softmax.exact_rows(x, every, table, node.number("y_scale"), axis_of(site))
        y = rows + node.integer("zero_point")
    limited: Integers = np.minimum(np.maximum(y, node.integer("low")), node.integer("high"))
    return limited


def _access(site: Site) -> Access:
    shapes = {"X": site.input(0).shape, "T": wide_table(site).shape, "Y": site.output.shape}
    return parse_map(softmax_map(site, "T[:]")).bind(shapes)


def refused_wide(site: Site) -> str | None:
    """Why softmax of 16 bits has no result for a node, or None."""
    length, node = site.input(0).shape[axis_of(site)], site.node
    if not 1 <= length <= wide_softmax.LONGEST:
        return f"rows have {length} elements; integer softmax has at most {wide_softmax.LONGEST}"
    if not (math.isfinite(node.number("x_scale")) and node.number("x_scale") > 0):
        return "its scale is not positive"
    if node.rounding == TFLM:
        fits = (node.number("y_scale"), node.integer("zero_point")) == (2.0**-15, 0)
        types = (site.input(0).dtype, site.output.dtype) == (DType.I16, DType.I16)
        return None if fits and types else "softmax of tflm has a result of i16, whose scale is 2**-15 and zero point 0"
    if not _SCALES[0] <= node.number("y_scale") <= _SCALES[1]:
        return f"the scale of its result is {node.number('y_scale')!r}, and not from 2**-16 to 1"
    return None


def _match(site: Site) -> str | None:
    if site.input(0).dtype in BYTE_TYPES:
        return "values have 8 bits"
    return not_values(site, 0) or refused_wide(site)


def _values(call: Call) -> Mapping[str, object]:
    site, x, y, axis = call.site, call.operands["X"], call.operands["Y"], axis_of(call.site)
    node, rows = site.node, [index for index in range(len(x.shape)) if index != axis]
    steps = {name: [operand.strides[index] for index in rows] for name, operand in (("X", x), ("Y", y))}
    loops = nest(walk([y.extents[index] for index in rows], steps, "Y"), 0)
    fixed = node.rounding == TFLM
    fields: dict[str, object] = {"count": y.shape[axis], "x_step": x.strides[axis], "y_step": y.strides[axis]}
    if fixed:
        multiplier, exponent = wide_softmax.fixed_numbers(node.number("x_scale"))
        fields["words"] = f"{{{multiplier}, {exponent}}}"
    else:
        fields["scale"] = f"UINT32_C({round(node.number('y_scale') * 2**31)})"
        fields |= {name: node.integer(name) for name in ("zero_point", "low", "high")}
    return {
        "fixed": fixed,
        "masked": False,
        "lowest": x.dtype.limits[0],
        "function": f"tw_qsoftmax_{x.dtype.value}_{y.dtype.value}{'_tflm' * fixed}",
        "x_type": x.dtype.c_type,
        "y_type": y.dtype.c_type,
        "nest": loops.headers,
        "at": loops.offsets,
        "fields": c_initialiser(fields),
    }


_EXACT = c_template("${function}", "qsoftmax_wide.c.mako")
_FIXED = c_template("${function}", "qsoftmax_wide_tflm.c.mako")

QSOFTMAX_WIDE = Kernel(
    name="portable.qsoftmax_wide",
    op="QSoftmax",
    roundings=("onnx", "tflm"),
    parallel=("*",),
    match=_match,
    access=_access,
    pack=lambda site: {"T": wide_table(site)},
    in_place=lambda site: (("X", "Y"),) if site.output.dtype not in BYTE_TYPES else (),
    values=_values,
    source=lambda values: (_FIXED if values["fixed"] else _EXACT,),
    call=NEST + '${function}((${function}_row)${fields}, ${X}${at["X"]}, ${T}, ${Y}${at["Y"]});',
)
