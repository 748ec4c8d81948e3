"""Knows the pass that finds normalisations written as arithmetic: they become LayerNormalization or RMSNormalization.
Does not know scales and shifts behind them, which stay, nor how rows are computed (`layernorm`).

    c -> Mul(c, c) -> ReduceMean -> [Add(epsilon)] -> Sqrt -> Div(c, .), or Reciprocal or Div(1, .), then Mul(c, .)

over the last axes; `c` is x - ReduceMean(x), or x itself. Sums round otherwise, and no more. Source: exports of
operator sets before 17 (23), and of models that define RMS normalisation themselves.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tilewright.ir.graphs.graph import Attribute, Graph, Node
from tilewright.ir.graphs.operator import GraphPass, PassContext, PassResult
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.edit import Draft, GraphView, origins


@dataclass(frozen=True, slots=True, kw_only=True)
class _Normal:
    """A normalisation: what it computes of which value, over how many last axes, and the nodes that it was."""

    op: str
    x: str
    axes: int
    epsilon: float
    nodes: tuple[Node, ...]


def _apply(graph: Graph, context: PassContext) -> PassResult:
    view, draft = GraphView.of(graph), Draft(graph=graph)
    for node in graph.nodes:
        if node.op in ("Div", "Mul") and not node.attributes and graph.tensors[node.outputs[0]].dtype is DType.F32:
            normal = _normal(view, node)
            if normal is not None:
                _replace(draft, node, normal)
    return PassResult(graph=draft.finish())


def _replace(draft: Draft, last: Node, normal: _Normal) -> None:
    shape = draft.graph.tensors[normal.x].shape
    origin = origins(*normal.nodes)
    attributes: Mapping[str, Attribute] = {"epsilon": normal.epsilon}
    if normal.axes == 1:
        row = Node(
            name=last.name, op=normal.op, inputs=(normal.x,), outputs=last.outputs, attributes=attributes, origin=origin
        )
        draft.replace(last, row)
        return
    cut = len(shape) - normal.axes
    rows = math.prod(shape[:cut]), math.prod(shape[cut:])
    flat, even = (draft.value(DType.F32, rows, f"{last.name}/{hint}") for hint in ("flat", "rows"))
    steps: tuple[tuple[str, str, str, Mapping[str, Attribute], str], ...] = (
        ("Reshape", normal.x, flat, {"shape": rows}, draft.node_name(f"{last.name}/flat")),
        (normal.op, flat, even, attributes, draft.node_name(f"{last.name}/rows")),
        ("Reshape", even, last.outputs[0], {"shape": shape}, last.name),
    )
    draft.replace(
        last,
        *(
            Node(name=name, op=op, inputs=(source,), outputs=(made,), attributes=own, origin=origin)
            for op, source, made, own, name in steps
        ),
    )


def _normal(view: GraphView, last: Node) -> _Normal | None:
    """What ends at `last`, or None."""
    for value, factor in (last.inputs, last.inputs[::-1]):
        root, nodes = _root(view, last, factor)
        if root is not None:
            result = _of_root(view, value, root, (*nodes, last))
            if result is not None:
                return result
        if last.op == "Div":
            return None
    return None


def _root(view: GraphView, last: Node, factor: str) -> tuple[Node | None, tuple[Node, ...]]:
    """The Sqrt whose result `last` divides by, and the node that inverts it, if any."""
    node = view.producer.get(factor)
    if last.op == "Div" or node is None:
        return _is(node, "Sqrt"), ()
    numerator = view.graph.constants.get(node.inputs[0]) if node.op == "Div" else None
    if node.op == "Reciprocal" or (numerator is not None and bool(np.all(numerator == 1))):
        return _is(view.producer.get(node.inputs[-1]), "Sqrt"), (node,)
    return None, ()


def _is(node: Node | None, op: str) -> Node | None:
    return node if node is not None and node.op == op else None


def _of_root(view: GraphView, value: str, root: Node, nodes: tuple[Node, ...]) -> _Normal | None:
    mean, epsilon, added = _with_epsilon(view, root.inputs[0])
    axes = _last_axes(view, mean)
    square = view.producer.get(mean.inputs[0]) if mean is not None and axes else None
    if mean is None or square is None or square.op != "Mul" or square.inputs != (value, value) or square.attributes:
        return None
    nodes = (square, mean, *added, root, *nodes)
    centred = _is(view.producer.get(value), "Sub")
    own = _is(view.producer.get(centred.inputs[1]), "ReduceMean") if centred is not None else None
    if centred is not None and own is not None and own.inputs[0] == centred.inputs[0] and not centred.attributes:
        if _last_axes(view, own) != axes:
            return None
        nodes = (own, centred, *nodes)
        return _Normal(op="LayerNormalization", x=own.inputs[0], axes=axes, epsilon=epsilon, nodes=nodes)
    return _Normal(op="RMSNormalization", x=value, axes=axes, epsilon=epsilon, nodes=nodes)


def _with_epsilon(view: GraphView, value: str) -> tuple[Node | None, float, tuple[Node, ...]]:
    """The ReduceMean before `value`, what is added to it, and the Add."""
    node = view.producer.get(value)
    if node is None or node.op != "Add" or node.attributes:
        return _is(node, "ReduceMean"), 0.0, ()
    for other, name in (node.inputs, node.inputs[::-1]):
        array = view.graph.constants.get(name)
        if array is not None and array.size == 1 and float(array.reshape(-1)[0]) >= 0:
            return _is(view.producer.get(other), "ReduceMean"), float(array.reshape(-1)[0]), (node,)
    return None, 0.0, ()


def _last_axes(view: GraphView, mean: Node | None) -> int:
    """Over how many of the last axes `mean` goes; 0 where over others, or where it drops them."""
    if mean is None or not mean.integer("keepdims", 1):
        return 0
    rank, axes = len(view.graph.tensors[mean.inputs[0]].shape), mean.integers("axes")
    return len(axes) if axes == tuple(range(rank - len(axes), rank)) else 0


PASS = GraphPass(
    name="recognise-normalisation",
    summary="a mean, squares, a root and a quotient become LayerNormalization or RMSNormalization",
    apply=_apply,
    roots=("Sqrt",),
    after=("merge-duplicates", "fuse-matmul-add"),
    before=("fold-channel-constants", "move-quantisation"),
)
