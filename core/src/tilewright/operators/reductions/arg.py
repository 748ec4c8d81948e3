"""Knows ArgMax and ArgMin on floats and integers: where along an axis the largest or smallest element is, as int64.
Does not know their values (`reduce`).

Normal form: attributes `axis`, counted from the front, `keepdims`, and `select_last_index`: which of equals. The first
NaN counts as larger, and as smaller, than every number, as numpy has it; with `select_last_index` the last one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from tilewright.ir.access.index_map import Access, parse_map
from tilewright.ir.graphs.graph import Site, Tensor
from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.c_code.c_source import c_template
from tilewright.operators.c_code.loop_nest import NEST, nest
from tilewright.operators.c_code.walk import walk
from tilewright.operators.shared.import_checks import need_axis
from tilewright.operators.shared.shape_errors import shape_error

Array = npt.NDArray[np.generic]


def _axis(site: Site) -> int:
    return site.node.integer("axis")


def _keeps(site: Site) -> bool:
    return bool(site.node.integer("keepdims", 1))


def _infer(site: Site) -> tuple[Tensor, ...]:
    x, axis = site.input(0), _axis(site)
    if not 0 <= axis < len(x.shape):
        raise shape_error(site, f"there is no axis {axis}")
    if x.shape[axis] == 0:
        raise shape_error(site, f"axis {axis} has no element")
    shape = (*x.shape[:axis], *((1,) if _keeps(site) else ()), *x.shape[axis + 1 :])
    return (Tensor(name=site.node.outputs[0], dtype=DType.I64, shape=shape),)


def _reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    x, axis = np.asarray(inputs[0]), _axis(site)
    find = np.argmax if site.node.op == "ArgMax" else np.argmin
    if site.node.integer("select_last_index"):
        found = x.shape[axis] - 1 - find(np.flip(x, axis), axis=axis)
    else:
        found = find(x, axis=axis)
    return (np.asarray(found, np.int64).reshape(site.output.shape),)


def _access(site: Site) -> Access:
    """A position is no sum of parts, so the axis is whole."""
    x, axis = site.input(0).shape, _axis(site)
    loops = [f"i{other}" for other in range(len(x)) if other != axis]
    source = ",".join(":" if other == axis else f"i{other}" for other in range(len(x)))
    kept = [*loops[:axis], "0", *loops[axis:]] if _keeps(site) else loops
    return parse_map(f"{' '.join(loops)} : X[{source}] -> Y[{','.join(kept)}]").bind({"X": x, "Y": site.output.shape})


def _match(site: Site) -> str | None:
    dtype = site.input(0).dtype
    return None if dtype is DType.F32 or dtype.is_integer else f"X must be f32 or an integer, found {dtype.value}"


def _values(call: Call) -> Mapping[str, object]:
    site, x, y, axis = call.site, call.operands["X"], call.operands["Y"], _axis(call.site)
    others = [other for other in range(len(x.shape)) if other != axis]
    places = others if _keeps(site) else range(len(others))
    steps = {"X": [x.strides[other] for other in others], "Y": [y.strides[place] for place in places]}
    outer = nest(walk([y.extents[place] for place in places], steps, "Y"), 0)
    last = bool(site.node.integer("select_last_index"))
    order = ">" if site.node.op == "ArgMax" else "<"
    return {
        "nest": outer.headers,
        "at": outer.offsets,
        "function": f"tw_{site.node.op.lower()}{'_last' if last else ''}_{x.dtype.value}",
        "type": x.dtype.c_type,
        "order": f"{order}=" if last else order,
        "floating": x.dtype.is_float,
        "last": last,
        "count": x.extents[axis],
        "x_step": x.strides[axis],
    }


def _import(op: str, node: OnnxNode, graph: Conversion) -> None:
    axis = need_axis(node, graph, node.integer("axis"), len(graph.tensor(node.inputs[0]).shape))
    attributes = {"axis": axis, "keepdims": int(bool(node.integer("keepdims", 1)))}
    if node.integer("select_last_index"):
        attributes["select_last_index"] = 1
    graph.emit(node, op, node.inputs, node.outputs, attributes)


_FIRST = {"axis": "INT", "keepdims": "INT"}
_LAST = {**_FIRST, "select_last_index": "INT"}


def _operator(op: str, summary: str) -> Operator:
    return Operator(
        name=op,
        inputs=("X",),
        outputs=("Y",),
        summary=summary,
        infer=_infer,
        reference=_reference,
        access=_access,
        macs=lambda site: site.input(0).elements,
        imports=(
            Import(op_type=op, since=1, attributes=_FIRST, convert=partial(_import, op)),
            Import(op_type=op, since=12, attributes=_LAST, convert=partial(_import, op)),
        ),
    )


def _kernel(op: str) -> Kernel:
    return Kernel(
        name=f"portable.{op.lower()}",
        op=op,
        parallel=("*",),
        match=_match,
        values=_values,
        source=(c_template("${function}", "arg.c.mako"),),
        call=NEST + "*(${Y}${at['Y']}) = ${function}(${count}, ${X}${at['X']}, ${x_step});",
    )


OPERATORS = (
    _operator("ArgMax", "position of the largest element along an axis"),
    _operator("ArgMin", "position of the smallest element along an axis"),
)
KERNELS = tuple(_kernel(operator.name) for operator in OPERATORS)
