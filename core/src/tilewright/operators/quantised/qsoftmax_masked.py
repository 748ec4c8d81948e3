"""Knows QMaskedSoftmax: QSoftmax, of 8 or 16 bits, of those elements of a row that a mask leaves; the others are 0.
Does not know masks of numbers: whoever makes this node has decided which elements count for nothing.

M is u8 or bool and broadcasts to X; where it is not 0, an element does not count: neither for the largest nor for the
sum, and its result is that of 0. The same holds of every element of a row of which none counts. Else the formula of
QSoftmax, over the same table; its attributes, without `rounding`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tilewright.arithmetic.wide_softmax import exact_rows
from tilewright.ir.access.index_map import Access, parse_map
from tilewright.ir.graphs.graph import Site, Tensor
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.c_code.c_source import c_template
from tilewright.operators.c_code.walk import NEST, broadcast_steps, nest, walk
from tilewright.operators.quantised.qsoftmax import refused, table_of
from tilewright.operators.quantised.qsoftmax_wide import refused_wide, wide_table
from tilewright.operators.shared.integer_sites import BYTE_TYPES, centred, not_values, output_dtype
from tilewright.operators.shared.refusals import shape_error

Array = npt.NDArray[np.generic]


def _axis(site: Site) -> int:
    return site.node.integer("axis", -1) % len(site.input(0).shape)


def _is_wide(site: Site) -> bool:
    return site.input(0).dtype not in BYTE_TYPES


def _table(site: Site) -> Array:
    return wide_table(site) if _is_wide(site) else table_of(site)


def _infer(site: Site) -> tuple[Tensor, ...]:
    x, m, axis = site.input(0), site.input(1), site.node.integer("axis", -1)
    if not -len(x.shape) <= axis < len(x.shape):
        raise shape_error(site, f"axis {axis} is not an axis of X")
    own = (1,) * (len(x.shape) - len(m.shape)) + m.shape
    fits = len(own) == len(x.shape) and all(part in (1, whole) for part, whole in zip(own, x.shape, strict=True))
    if not fits or m.dtype not in (DType.BOOL, DType.U8):
        raise shape_error(site, "M is u8 or bool, and broadcasts to X")
    dtype = output_dtype(site, site.node.integer("low"), site.node.integer("high"))
    return (Tensor(name=site.node.outputs[0], dtype=dtype, shape=x.shape),)


def _reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    node, axis, x = site.node, _axis(site), centred(inputs[0])
    counts = np.broadcast_to(np.asarray(inputs[1]) == 0, x.shape)
    if _is_wide(site):
        rows = exact_rows(x, counts, wide_table(site).astype(np.int64), node.number("y_scale"), axis)
        y = rows + node.integer("zero_point")
        return (np.clip(y, node.integer("low"), node.integer("high")).astype(site.output.dtype.numpy),)
    table = np.zeros(256, np.int64)
    table[: len(table_of(site))] = table_of(site)
    largest = np.where(counts, x, site.input(0).dtype.limits[0]).max(axis=axis, keepdims=True)
    entries = np.where(counts, table[np.maximum(largest - x, 0)], 0)
    scale = round(node.number("y_scale") * 2**31)
    divisor = np.maximum((entries.sum(axis=axis, keepdims=True) * scale + 2**30) >> 31, 1)
    y = (entries + divisor // 2) // divisor + node.integer("zero_point")
    return (np.clip(y, node.integer("low"), node.integer("high")).astype(site.output.dtype.numpy),)


def _map(site: Site, table: str) -> str:
    axis, rank, m = _axis(site), len(site.input(0).shape), site.input(1).shape
    loops = [f"a{index}" for index in range(rank) if index != axis]
    indices = [":" if index == axis else f"a{index}" for index in range(rank)]
    missing = rank - len(m)
    mask = [
        "0"
        if extent == 1 and site.input(0).shape[missing + at] != 1 and missing + at != axis
        else indices[missing + at]
        for at, extent in enumerate(m)
    ]
    text = f"{' '.join(loops)} : X[{','.join(indices)}] M[{','.join(mask)}]"
    return f"{text} {table} -> Y[{','.join(indices)}]"


def _access(site: Site, table: str = "") -> Access:
    shapes = {"X": site.input(0).shape, "M": site.input(1).shape, "Y": site.output.shape}
    return parse_map(_map(site, table)).bind({**shapes, "T": _table(site).shape} if table else shapes)


def _packed(site: Site) -> Mapping[str, Array]:
    """The table, and a constant mask as it is."""
    mask = site.constant(1)
    return {"T": _table(site)} if mask is None else {"T": _table(site), "M": mask}


def _values(call: Call) -> Mapping[str, object]:
    node, axis = call.site.node, _axis(call.site)
    x, m, y = (call.operands[name] for name in "XMY")
    rows = [index for index in range(len(x.shape)) if index != axis]
    masks = broadcast_steps(m, x)
    steps = {
        "X": [x.strides[index] for index in rows],
        "M": [masks[index] for index in rows],
        "Y": [y.strides[index] for index in rows],
    }
    loops = nest(walk([y.extents[index] for index in rows], steps, "Y"), 0)
    wide = _is_wide(call.site)
    entries = {} if wide else {"entries": len(table_of(call.site))}
    function = f"tw_qsoftmax_masked_{x.dtype.value}_{y.dtype.value}"
    return {
        "masked": True,
        "function": function,
        "row": f"{function}_row" if wide else "tw_qsoftmax",
        "x_type": x.dtype.c_type,
        "y_type": y.dtype.c_type,
        "lowest": x.dtype.limits[0],
        "nest": loops.headers,
        "at": loops.offsets,
        "m_step": masks[axis],
        "fields": {
            "count": y.shape[axis],
            "x_step": x.strides[axis],
            "y_step": y.strides[axis],
            **entries,
            "scale": f"UINT32_C({round(node.number('y_scale') * 2**31)})",
            "zero_point": node.integer("zero_point"),
            "low": node.integer("low"),
            "high": node.integer("high"),
        },
    }


def _match_wide(site: Site) -> str | None:
    return not_values(site, 0) or refused_wide(site) if _is_wide(site) else "values have 8 bits"


QMASKED_SOFTMAX = Operator(
    name="QMaskedSoftmax",
    inputs=("X", "M"),
    outputs=("Y",),
    summary="softmax of those integers of a row that a mask leaves, in integers",
    infer=_infer,
    reference=_reference,
    access=_access,
)

QMASKED_SOFTMAX_PORTABLE = Kernel(
    name="portable.qmasked_softmax",
    op="QMaskedSoftmax",
    parallel=("*",),
    match=refused,
    access=lambda site: _access(site, "T[:]"),
    pack=_packed,
    in_place=lambda site: (("X", "Y"),),
    values=_values,
    source=(c_template("${function}", "qsoftmax_masked.c.mako"),),
    call=NEST
    + """\
${function}((${row}){
% for name, value in fields.items():
    .${name} = ${value},
% endfor
}, ${X}${at["X"]}, ${M}${at["M"]}, ${m_step}, ${T}, ${Y}${at["Y"]});""",
)

QMASKED_SOFTMAX_WIDE = replace(
    QMASKED_SOFTMAX_PORTABLE,
    name="portable.qmasked_softmax_wide",
    match=_match_wide,
    in_place=lambda site: (("X", "Y"),) if site.output.dtype not in BYTE_TYPES else (),
    source=(c_template("${function}", "qsoftmax_wide.c.mako"),),
)

OPERATORS = (QMASKED_SOFTMAX,)
KERNELS = (QMASKED_SOFTMAX_PORTABLE, QMASKED_SOFTMAX_WIDE)
