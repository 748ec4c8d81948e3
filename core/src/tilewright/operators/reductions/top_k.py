"""Knows TopK, ArgMax and ArgMin: which elements along an axis are the largest or smallest, and where they are.
Does not know reductions to a value (`reduce`).

Normal form of TopK: attributes `axis`, counted from the front, `k`, and `largest`. Of equals the first comes first;
results are in order, whether asked for or not. A NaN is larger than every number. Normal form of ArgMax and ArgMin:
attributes `axis`, `keepdims`, and `select_last_index`: which of equals. The first NaN counts as larger, and as smaller,
than every number, as numpy has it; with `select_last_index` the last one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from tilewright.ir.access.index_map import Access, parse_map
from tilewright.ir.graphs.graph import Attribute, Site, Tensor
from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.c_code.c_source import c_template
from tilewright.operators.c_code.walk import NEST, nest, walk
from tilewright.operators.shared.refusals import need_axis, not_ordered, shape_error

Array = npt.NDArray[np.generic]


def _infer(site: Site) -> tuple[Tensor, ...]:
    x, axis, k = site.input(0), site.node.integer("axis"), site.node.integer("k")
    if not 0 <= axis < len(x.shape) or not 0 <= k <= x.shape[axis]:
        raise shape_error(site, f"there is no axis {axis} of {k} elements or more")
    shape = (*x.shape[:axis], k, *x.shape[axis + 1 :])
    types = (x.dtype, DType.I64)
    return tuple(
        Tensor(name=name, dtype=dtype, shape=shape) for name, dtype in zip(site.node.outputs, types, strict=False)
    )


def _reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    x, axis = np.asarray(inputs[0]), site.node.integer("axis")
    if site.node.integer("largest", 1):  # a stable order of what is flipped puts the last of equals first
        order = x.shape[axis] - 1 - np.flip(np.argsort(np.flip(x, axis), axis=axis, kind="stable"), axis)
    else:
        order = np.argsort(x, axis=axis, kind="stable")
    chosen = np.take(order, np.arange(site.node.integer("k")), axis=axis)
    return (np.take_along_axis(x, chosen, axis), chosen.astype(np.int64))[: len(site.node.outputs)]


def _access(site: Site) -> Access:
    """Any element may be among the first, so the axis is whole."""
    axis, loops = site.node.integer("axis"), [f"a{at}" for at in range(len(site.output.shape))]
    index = ",".join(":" if at == axis else loop for at, loop in enumerate(loops))
    outer = " ".join(loop for at, loop in enumerate(loops) if at != axis)
    made = {name: tensor.shape for name, tensor in zip(("Y", "I"), site.outputs, strict=False)}
    writes = " ".join(f"{name}[{index}]" for name in made)
    return parse_map(f"{outer} : X[{index}] -> {writes}").bind({"X": site.input(0).shape, **made})


def _values(call: Call) -> Mapping[str, object]:
    x, y, places, axis = call.operands["X"], call.operands["Y"], call.operands["I"], call.site.node.integer("axis")
    others = [at for at in range(len(y.shape)) if at != axis]
    steps = {name: [call.operands[name].strides[at] for at in others] for name in ("X", "Y", "I")}
    outer = nest(walk([y.extents[at] for at in others], steps, "Y"), 0)
    largest = bool(call.site.node.integer("largest", 1))
    return {
        "nest": outer.headers,
        "at": outer.offsets,
        "function": f"tw_top_{'largest' if largest else 'smallest'}_{x.dtype.value}",
        "type": x.dtype.c_type,
        "largest": largest,
        "floating": x.dtype.is_float,
        "count": x.extents[axis],
        "k": y.extents[axis],
        "x_step": x.strides[axis],
        "y_step": y.strides[axis],
        "i_step": places.strides[axis],
    }


def _import(node: OnnxNode, graph: Conversion) -> None:
    shape = graph.tensor(node.inputs[0]).shape
    axis = need_axis(node, graph, node.integer("axis", -1), len(shape))
    k = int(graph.need_constant(node, 1).reshape(-1)[0]) if len(node.inputs) > 1 else node.integer("k")
    if not 0 <= k <= shape[axis]:
        raise graph.refuse(node, f"k is {k}, axis {axis} has {shape[axis]} elements")
    attributes: dict[str, Attribute] = {"axis": axis, "k": k, "largest": int(bool(node.integer("largest", 1)))}
    outputs = node.outputs if len(node.outputs) > 1 else (*node.outputs, graph.name(node, "places"))
    graph.emit(node, "TopK", node.inputs[:1], outputs, attributes)


_SORTED = {"axis": "INT", "largest": "INT", "sorted": "INT"}

TOP_K = Operator(
    name="TopK",
    inputs=("X",),
    outputs=("Y", "I"),
    summary="the k largest or smallest elements along an axis, and where they are",
    infer=_infer,
    reference=_reference,
    access=_access,
    macs=lambda site: site.input(0).elements * site.node.integer("k"),
    imports=(
        Import(op_type="TopK", since=1, attributes={"axis": "INT", "k": "INT"}, convert=_import),
        Import(op_type="TopK", since=10, attributes={"axis": "INT"}, convert=_import, min_inputs=2, max_inputs=2),
        Import(op_type="TopK", since=11, attributes=_SORTED, convert=_import, min_inputs=2, max_inputs=2),
    ),
)

TOP_K_PORTABLE = Kernel(
    name="portable.top_k",
    op="TopK",
    parallel=("*",),
    match=lambda site: "it has no output of places" if len(site.outputs) < 2 else not_ordered(site),
    values=_values,
    source=(c_template("${function}", "top_k.c.mako"),),
    call=NEST
    + "${function}(${count}, ${k}, ${X}${at['X']}, ${x_step}, ${Y}${at['Y']}, ${y_step}, ${I}${at['I']}, ${i_step});",
)


# --- ArgMax and ArgMin


def _keeps(site: Site) -> bool:
    return bool(site.node.integer("keepdims", 1))


def _arg_infer(site: Site) -> tuple[Tensor, ...]:
    x, axis = site.input(0), site.node.integer("axis")
    if not 0 <= axis < len(x.shape):
        raise shape_error(site, f"there is no axis {axis}")
    if x.shape[axis] == 0:
        raise shape_error(site, f"axis {axis} has no element")
    shape = (*x.shape[:axis], *((1,) if _keeps(site) else ()), *x.shape[axis + 1 :])
    return (Tensor(name=site.node.outputs[0], dtype=DType.I64, shape=shape),)


def _arg_reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    x, axis = np.asarray(inputs[0]), site.node.integer("axis")
    find = np.argmax if site.node.op == "ArgMax" else np.argmin
    if site.node.integer("select_last_index"):
        positions = x.shape[axis] - 1 - find(np.flip(x, axis), axis=axis)
    else:
        positions = find(x, axis=axis)
    return (np.asarray(positions, np.int64).reshape(site.output.shape),)


def _arg_access(site: Site) -> Access:
    """A position is no sum of parts, so the axis is whole."""
    x, axis = site.input(0).shape, site.node.integer("axis")
    loops = [f"i{other}" for other in range(len(x)) if other != axis]
    source = ",".join(":" if other == axis else f"i{other}" for other in range(len(x)))
    kept = [*loops[:axis], "0", *loops[axis:]] if _keeps(site) else loops
    return parse_map(f"{' '.join(loops)} : X[{source}] -> Y[{','.join(kept)}]").bind({"X": x, "Y": site.output.shape})


def _arg_values(call: Call) -> Mapping[str, object]:
    site, x, y, axis = call.site, call.operands["X"], call.operands["Y"], call.site.node.integer("axis")
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


def _arg_import(op: str, node: OnnxNode, graph: Conversion) -> None:
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
        infer=_arg_infer,
        reference=_arg_reference,
        access=_arg_access,
        macs=lambda site: site.input(0).elements,
        imports=(
            Import(op_type=op, since=1, attributes=_FIRST, convert=partial(_arg_import, op)),
            Import(op_type=op, since=12, attributes=_LAST, convert=partial(_arg_import, op)),
        ),
    )


def _kernel(op: str) -> Kernel:
    return Kernel(
        name=f"portable.{op.lower()}",
        op=op,
        parallel=("*",),
        match=not_ordered,
        values=_arg_values,
        source=(c_template("${function}", "arg.c.mako"),),
        call=NEST + "*(${Y}${at['Y']}) = ${function}(${count}, ${X}${at['X']}, ${x_step});",
    )


_ARG = (
    _operator("ArgMax", "position of the largest element along an axis"),
    _operator("ArgMin", "position of the smallest element along an axis"),
)

OPERATORS = (TOP_K, *_ARG)
KERNELS = (TOP_K_PORTABLE, *(_kernel(operator.name) for operator in _ARG))
