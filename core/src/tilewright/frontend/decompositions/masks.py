"""Knows operators that are a choice between elements by a mask: Trilu, OneHot, IsNaN, IsInf, EyeLike.
Does not know how the choice is computed (`Where`, `Equal`). Masks that depend on shapes alone are constants.
"""

from __future__ import annotations

import numpy as np

from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode, need_room
from tilewright.ir.tensors.dtypes import ELEMENT_TYPES, DType, type_name


def _trilu(node: OnnxNode, graph: Conversion) -> None:
    """The part above a diagonal, or below it; 0 elsewhere."""
    x = graph.tensor(node.inputs[0])
    if len(x.shape) < 2:
        raise graph.refuse(node, "its input is no matrix")
    k = int(graph.need_constant(node, 1).reshape(()).item()) if len(node.inputs) > 1 and node.inputs[1] else 0
    rows, columns = x.shape[-2:]
    need_room(node, graph, rows * columns)
    k = min(max(k, -rows), columns)
    upper = bool(node.integer("upper", 1))
    kept = np.tri(rows, columns, k - 1 if upper else k, np.bool_) ^ upper
    if kept.all():
        graph.rename(node, node.inputs[0])
        return
    zero = graph.add_constant(np.zeros(1, x.dtype.numpy), "zero")
    graph.emit(node, "Where", (graph.add_constant(kept, "kept"), node.inputs[0], zero), node.outputs)


def _one_hot(node: OnnxNode, graph: Conversion) -> None:
    """The second of `values` at the index, which counts from the end where it is negative; the first elsewhere."""
    indices, _, values = node.inputs
    depth = int(graph.need_constant(node, 1).reshape(-1)[0])
    shape, axis = graph.tensor(indices).shape, node.integer("axis", -1)
    if depth < 1 or not -len(shape) - 1 <= axis <= len(shape) or graph.tensor(values).elements != 2:
        raise graph.refuse(node, f"depth is {depth}, axis {axis}, values have {graph.tensor(values).elements} elements")
    need_room(node, graph, depth)
    axis %= len(shape) + 1
    if graph.tensor(indices).dtype is not DType.I64:
        indices = graph.emit(node, "Cast", (indices,), (), {"to": "i64"}, "indices")
    wider = {"shape": (*shape[:axis], 1, *shape[axis:])}
    indices = graph.emit(node, "Reshape", (indices,), (), wider, "apart")
    places = np.arange(depth).reshape(-1, *(1,) * (len(shape) - axis))
    positions = ((places, "places"), (places - depth, "from_the_end"))
    forward, backward = (
        graph.emit(node, "Equal", (graph.add_constant(where, hint), indices), hint=f"is_{hint}")
        for where, hint in positions
    )
    off, on = (_entry(node, graph, values, index) for index in (0, 1))
    graph.emit(node, "Where", (graph.emit(node, "Or", (forward, backward), hint="hot"), on, off), node.outputs)


def _entry(node: OnnxNode, graph: Conversion, values: str, index: int) -> str:
    known = graph.constant(values)
    if known is not None:
        return graph.add_constant(known.reshape(-1)[index : index + 1], f"value_{index}")
    cut = {"starts": (index,), "steps": (1,), "shape": (1,)}
    return graph.emit(node, "Slice", (values,), (), cut, f"value_{index}")


def _need_floats(node: OnnxNode, graph: Conversion) -> None:
    dtype = graph.tensor(node.inputs[0]).dtype
    if dtype is not DType.F32:
        raise graph.refuse(node, f"its input is {dtype.value}; supported here: f32")


def _is_nan(node: OnnxNode, graph: Conversion) -> None:
    """An element is NaN where it does not equal itself."""
    _need_floats(node, graph)
    same = graph.emit(node, "Equal", (node.inputs[0], node.inputs[0]), hint="same")
    graph.emit(node, "Not", (same,), node.outputs)


def _is_inf(node: OnnxNode, graph: Conversion) -> None:
    _need_floats(node, graph)
    signs = [sign for sign, name in ((1, "detect_positive"), (-1, "detect_negative")) if node.integer(name, 1)]
    if not signs:
        none = np.zeros(graph.tensor(node.inputs[0]).shape, np.bool_)
        graph.rename(node, graph.add_constant(none, node.outputs[0]))
        return
    matches = [
        graph.emit(node, "Equal", (node.inputs[0], graph.add_constant(np.full((), sign * np.inf, np.float32), "limit")))
        for sign in signs
    ]
    graph.rename(node, matches[0] if len(matches) == 1 else graph.emit(node, "Or", matches, hint="either"))


def _eye_like(node: OnnxNode, graph: Conversion) -> None:
    x = graph.tensor(node.inputs[0])
    number = node.integer("dtype")
    if len(x.shape) != 2 or (number and number not in ELEMENT_TYPES):
        raise graph.refuse(node, f"its input has {len(x.shape)} axes, dtype is {type_name(number)}")
    need_room(node, graph, x.elements)
    dtype = ELEMENT_TYPES[number] if number else x.dtype
    ones = np.eye(*x.shape, k=node.integer("k"), dtype=dtype.numpy)
    graph.rename(node, graph.add_constant(ones, node.outputs[0]))


_ONE_HOT = {"axis": "INT"}

IMPORTS = (
    Import(op_type="EyeLike", since=9, attributes={"dtype": "INT", "k": "INT"}, convert=_eye_like),
    Import(
        op_type="IsInf",
        since=10,
        attributes={"detect_negative": "INT", "detect_positive": "INT"},
        convert=_is_inf,
    ),
    Import(op_type="IsNaN", since=9, attributes={}, convert=_is_nan),
    Import(op_type="OneHot", since=9, attributes=_ONE_HOT, convert=_one_hot, min_inputs=3, max_inputs=3),
    Import(op_type="Trilu", since=14, attributes={"upper": "INT"}, convert=_trilu, max_inputs=2),
)
