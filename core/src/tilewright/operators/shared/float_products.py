"""Knows what Gemm and MatMul on floats share: how they are summed and rounded, the C of a product, a call.
Does not know which of the two it serves.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from tilewright.ir.graphs.graph import Site
from tilewright.ir.graphs.importing import Conversion, OnnxNode
from tilewright.ir.machines.kernel import Call, PartialSums
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.c_code.c_elements import element_names
from tilewright.operators.c_code.c_source import c_template
from tilewright.operators.c_code.walk import NEST, broadcast_steps, innermost, nest, walk
from tilewright.operators.shared.float_results import clip_literals, clipped
from tilewright.operators.shared.reducing import either_source, sums_argument
from tilewright.operators.shared.refusals import need_types

Array = npt.NDArray[np.generic]
Wide = npt.NDArray[np.floating]  # float64, or longer where that is the type itself


def not_floats(site: Site) -> str | None:
    types = sorted({tensor.dtype.value for tensor in site.inputs if tensor is not None})
    if len(types) == 1 and DType(types[0]).is_float:
        return None
    return f"values must all be of one float type, found {', '.join(types)}"


def is_double(site: Site) -> bool:
    return site.input(0).dtype is DType.F64


def wide(site: Site, array: Array) -> Wide:
    """For sums that are rounded once, at their end."""
    return np.asarray(array, np.longdouble if is_double(site) else np.float64)


def finished(site: Site, exact: Wide) -> Array:
    with np.errstate(over="ignore"):
        if is_double(site):
            return clipped(site.node, exact.astype(np.float64))
        return clipped(site.node, exact.astype(np.float32))


def product_values(
    call: Call, rows: dict[str, tuple[int, ...]], b_depth: int, b_column: int, factors: Mapping[str, str]
) -> Mapping[str, object]:
    """A call over the rows that join, and loops around it; `rows` are steps along all axes of Y but the last."""
    a, y, c = call.operands["A"], call.operands["Y"], call.operands.get("C")
    c_steps = broadcast_steps(c, y) if c else (0,) * len(y.shape)
    acc = call.operands.get("acc")
    kept = {"ACC": acc.strides[:-1]} if acc else {}
    all_rows = walk(y.extents[:-1], {**rows, "C": c_steps[:-1], **kept}, "Y")
    outer, (count, steps) = nest(all_rows, 1), innermost(all_rows)
    fields: dict[str, object] = {
        "rows": count,
        "columns": y.extents[-1],
        "depth": a.extents[-1],
        **{f"{operand.lower()}_row": step for operand, step in steps.items()},
        "a_depth": a.strides[-1],
        "b_depth": b_depth,
        "b_column": b_column,
        "c_column": c_steps[-1],
        "y_column": y.strides[-1],
        **factors,
        **clip_literals(call.site.node, double=is_double(call.site)),
        **({"acc_column": acc.strides[-1]} if acc else {}),
        **call.part_fields,
    }
    dtype, part = call.site.input(0).dtype, call.is_part
    double = dtype is DType.F64
    bias = f"{c}{outer.offsets['C']}" if c else f"(const {dtype.c_type} *)0"
    ending = "_doubles" if double else f"_{dtype.value}s" if dtype.is_half else ""
    return {
        **element_names(dtype),
        "record": f"tw_matmul{'_part' if part else ''}{ending}",
        "zero": "0.0" if double else "0.0f",
        "fields": fields,
        "bias": bias,
        "nest": outer.headers,
        "at": outer.offsets,
        "part": part,
        "kept": sums_argument(call, outer.offsets),
    }


def accumulates(site: Site) -> PartialSums:
    return PartialSums(loops=("k",), dtype=site.output.dtype.computed_in)


def need_one_type(node: OnnxNode, graph: Conversion) -> None:
    need_types(node, graph, DType.F32, DType.F64, DType.F16, DType.BF16)
    need_types(node, graph, graph.tensor(node.inputs[0]).dtype)


SOURCE = either_source(
    c_template("tw_matmul_part_${kind}", "matmul_part.c.mako"), c_template("tw_matmul_${kind}", "matmul.c.mako")
)
CALL = (
    NEST
    + """\
tw_matmul${"_part" if part else ""}_${kind}((${record}){
% for name, value in fields.items():
        .${name} = ${value},
% endfor
    }, ${A}${at["A"]}, ${B}${at["B"]}, ${bias},${kept} ${Y}${at["Y"]});"""
)
INCLUDES = ("<stdint.h>", "<math.h>")
