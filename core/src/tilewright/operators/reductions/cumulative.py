"""Knows CumSum and CumProd: along an axis, what all elements up to each one add up to, or multiply to.
Does not know reductions, which keep the last of these only (`reduce`).

Normal form: attributes `axis`, counted from the front, `exclusive` (each one without itself) and `reverse` (from the
end on). Integers wrap.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from tilewright.ir.access.index_map import Access, parse_map
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.c_code.c_source import c_template
from tilewright.operators.c_code.walk import NEST, nest, walk
from tilewright.operators.shared.elementwise import same_as_x_along_axis
from tilewright.operators.shared.float_results import TINY, UNIT
from tilewright.operators.shared.refusals import need_axis, not_ordered

Array = npt.NDArray[np.generic]
Doubles = npt.NDArray[np.float64]


def _accumulated(site: Site, x: Any) -> Array:
    """In the type of `x`."""
    sums, reverse = site.node.op == "CumSum", bool(site.node.integer("reverse"))
    rows = np.moveaxis(np.flip(x, site.node.integer("axis")) if reverse else x, site.node.integer("axis"), -1)
    with np.errstate(all="ignore"):
        results = (np.cumsum if sums else np.cumprod)(rows, axis=-1, dtype=x.dtype)
    if site.node.integer("exclusive"):
        start = np.full((*results.shape[:-1], 1), 0 if sums else 1, x.dtype)
        results = np.concatenate([start, results[..., :-1]], axis=-1) if results.shape[-1] else results
    results = np.moveaxis(results, -1, site.node.integer("axis"))
    return np.asarray(np.flip(results, site.node.integer("axis")) if reverse else results)


def _tolerance(site: Site, inputs: Sequence[Array | None]) -> tuple[Array | None, ...]:
    """The same order and the same roundings as the reference; one more for each, whatever numpy does."""
    x = np.asarray(inputs[0])
    if x.dtype != np.float32:
        return (None,)
    size = np.abs(x.astype(np.float64))
    with np.errstate(all="ignore"):
        total: Doubles = np.asarray(_accumulated(site, size), np.float64)
    return (2 * x.shape[site.node.integer("axis")] * UNIT * total + TINY,)


def _access(site: Site) -> Access:
    axis, loops = site.node.integer("axis"), [f"a{at}" for at in range(len(site.output.shape))]
    index = ",".join(":" if at == axis else loop for at, loop in enumerate(loops))
    outer = " ".join(loop for at, loop in enumerate(loops) if at != axis)
    return parse_map(f"{outer} : X[{index}] -> Y[{index}]").bind({"X": site.input(0).shape, "Y": site.output.shape})


def _values(call: Call) -> Mapping[str, object]:
    x, y, axis = call.operands["X"], call.operands["Y"], call.site.node.integer("axis")
    others = [at for at in range(len(y.shape)) if at != axis]
    steps = {"X": [x.strides[at] for at in others], "Y": [y.strides[at] for at in others]}
    outer = nest(walk([y.extents[at] for at in others], steps, "Y"), 0)
    sums, exclusive = call.site.node.op == "CumSum", bool(call.site.node.integer("exclusive"))
    symbol, wide = "+" if sums else "*", "uint64_t" if x.dtype.size_bytes == 8 else "uint32_t"
    plain = x.dtype is DType.F32
    step = f"total {symbol} v" if plain else f"({x.dtype.c_type})(({wide})total {symbol} ({wide})v)"
    return {
        "nest": outer.headers,
        "at": outer.offsets,
        "function": f"tw_cum_{'sum' if sums else 'prod'}{'_before' if exclusive else ''}_{x.dtype.value}",
        "type": x.dtype.c_type,
        "start": ("0" if sums else "1") + (".0f" if plain else ""),
        "step": step,
        "exclusive": exclusive,
        "reverse": int(bool(call.site.node.integer("reverse"))),
        "count": y.extents[axis],
        "x_step": x.strides[axis],
        "y_step": y.strides[axis],
    }


def _import(op: str, node: OnnxNode, graph: Conversion) -> None:
    axis = int(graph.need_constant(node, 1).reshape(-1)[0])
    attributes: dict[str, Attribute] = {
        "axis": need_axis(node, graph, axis, len(graph.tensor(node.inputs[0]).shape)),
        "exclusive": int(bool(node.integer("exclusive"))),
        "reverse": int(bool(node.integer("reverse"))),
    }
    graph.emit(node, op, node.inputs[:1], node.outputs, attributes)


def _operator(op: str, since: int, summary: str) -> Operator:
    return Operator(
        name=op,
        inputs=("X",),
        outputs=("Y",),
        summary=summary,
        infer=same_as_x_along_axis,
        # The elements one after the other, each result rounded
        reference=lambda site, inputs: (_accumulated(site, np.asarray(inputs[0])),),
        access=_access,
        tolerance=_tolerance,
        imports=(
            Import(
                op_type=op,
                since=since,
                attributes={"exclusive": "INT", "reverse": "INT"},
                convert=partial(_import, op),
                min_inputs=2,
                max_inputs=2,
            ),
        ),
    )


def _kernel(op: str) -> Kernel:
    return Kernel(
        name=f"portable.{op.lower()}",
        op=op,
        parallel=("*",),
        match=not_ordered,
        in_place=lambda site: (("X", "Y"),),
        values=_values,
        source=(c_template("${function}", "cumulative.c.mako"),),
        call=NEST + "${function}(${count}, ${reverse}, ${X}${at['X']}, ${x_step}, ${Y}${at['Y']}, ${y_step});",
    )


OPERATORS = (
    _operator("CumSum", 11, "sums of all elements up to each one, along an axis"),
    _operator("CumProd", 26, "products of all elements up to each one, along an axis"),
)
KERNELS = tuple(_kernel(operator.name) for operator in OPERATORS)
