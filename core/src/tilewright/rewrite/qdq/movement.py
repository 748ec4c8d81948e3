"""Knows the pass that brings operators without arithmetic to the integer side of Q and DQ: operators that only move or
select elements do the same to stored integers as to real values. Bit-equal.
Does not know arithmetic. MaxPool and ReduceMax belong here: dequantising by a positive scale keeps the order.

Exact moves bring every such operator to the integer side, whatever the exporter wrapped in Q and DQ:
  sink   move(dequantise(x)) = dequantise(move(x)), all inputs that are moved of one scale and zero point;
  hoist  quantise(move(y)) = move(quantise(y)), where nothing else reads move(y).
ArgMax and ArgMin find the same places in stored integers. Rows of a constant table are quantised with the table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tilewright.ir.graphs.graph import Attribute, Graph, Node
from tilewright.ir.graphs.operator import GraphPass, PassContext, PassResult
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.edit import Draft, GraphView, origins, with_attributes
from tilewright.rewrite.fold.fold_constants import fold
from tilewright.rewrite.qdq.affine import VALUE_BITS, Affine, read

_BOTH_WAYS = ("Concat", "MaxPool", "Pad", "Reshape", "Slice", "Transpose", "Upsample")
_BY_INDEX = ("Gather", "GatherElements")  # the second input says what is taken, and is not moved
_ORDERED = ("MaxPool", "ReduceMax", "ReduceMin", "ArgMax", "ArgMin")  # need a positive scale
_FINDING = ("ArgMax", "ArgMin")  # their results are places, no values
MOVING = (*_BOTH_WAYS, *_BY_INDEX, "ReduceMax", "ReduceMin")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stored:
    """A dequantised value: the stored integers, their scale and zero point, and the DequantizeLinear node."""

    value: str
    affine: Affine
    node: Node


def sink_dequantise(graph: Graph) -> Graph:
    """Every moving operator whose inputs have one scale and zero point works on the stored values instead."""
    draft = Draft(graph=graph)
    stored: dict[str, _Stored] = {}
    for node in graph.nodes:
        if node.op == "DequantizeLinear":
            affine = read(graph, node)
            if not isinstance(affine, str) and affine.whole and affine.dtype in VALUE_BITS:
                stored[node.outputs[0]] = _Stored(value=node.inputs[0], affine=affine, node=node)
        elif node.op in MOVING and len(node.outputs) == 1:
            _sink(draft, node, stored)
        elif node.op in _FINDING and node.inputs[0] in stored and _keeps_order(node, stored[node.inputs[0]].affine):
            draft.replace(node, replace(node, inputs=(stored[node.inputs[0]].value,)))
    return draft.finish()


def _moved(node: Node) -> tuple[str, ...]:
    """The inputs that `node` moves or selects from."""
    return node.inputs[:1] if node.op in _BY_INDEX else tuple(name for name in node.inputs if name)


def _keeps_order(node: Node, affine: Affine) -> bool:
    return node.op not in _ORDERED or all(np.isfinite(scale) and scale > 0 for scale in affine.scale)


def _sink(draft: Draft, node: Node, stored: dict[str, _Stored]) -> None:
    sources = [stored.get(name) for name in _moved(node)]
    first = sources[0] if sources else None
    if first is None or any(source is None or source.affine != first.affine for source in sources):
        return
    if not _keeps_order(node, first.affine):
        return
    attributes = _stored_attributes(node, first.affine)
    if attributes is None:
        return
    output = node.outputs[0]
    moved = draft.value(first.affine.dtype, draft.graph.tensors[output].shape, f"{output}_stored")
    values = tuple(source.value for source in sources if source is not None)
    inputs = (*values, *node.inputs[1:]) if node.op in _BY_INDEX else values
    integer = replace(node, inputs=inputs, outputs=(moved,), attributes=attributes)
    again = Node(
        name=draft.node_name(f"{node.name}_dequantise"),
        op="DequantizeLinear",
        inputs=(moved, *first.node.inputs[1:]),
        outputs=(output,),
        attributes=first.node.attributes,
        origin=origins(first.node),
    )
    draft.replace(node, integer, again)
    stored[output] = _Stored(value=moved, affine=first.affine, node=again)


def _stored_attributes(node: Node, affine: Affine) -> dict[str, Attribute] | None:
    """The attributes for stored values; None where a padding value has no exact stored form."""
    attributes = dict(node.attributes)
    if node.op != "Pad" or attributes.get("mode", "constant") != "constant":
        return attributes
    value = affine.exactly(node.number("value"))
    return None if value is None else {**attributes, "value": value}


def hoist_quantise(graph: Graph) -> Graph:
    """Every moving operator that is read by one QuantizeLinear alone gets quantised inputs instead."""
    view = GraphView.of(graph)
    draft = Draft(graph=graph)
    for quantize in graph.nodes:
        affine = read(graph, quantize) if quantize.op == "QuantizeLinear" else ""
        if isinstance(affine, str) or not affine.whole or affine.dtype not in VALUE_BITS:
            continue
        top = _movable(view, quantize.inputs[0])
        if top is not None:
            draft.replace(quantize, *_hoisted(view, draft, top, quantize, affine, quantize.outputs[0]))
    return draft.finish()


def _movable(view: GraphView, value: str) -> Node | None:
    """The moving operator that writes `value`, if nobody but the one reader needs it in float."""
    node = view.producer.get(value)
    if node is None or len(node.outputs) != 1 or not view.read_once(value):
        return None
    if node.op not in _BOTH_WAYS and not (node.op in _BY_INDEX and view.compile_time(node.inputs[0])):
        return None
    return node if view.graph.tensors[value].dtype is DType.F32 else None


def _hoisted(view: GraphView, draft: Draft, top: Node, quantize: Node, affine: Affine, output: str) -> Sequence[Node]:
    """The nodes that quantise the inputs of `top` and of moving operators above it, and these on the stored values;
    the last one writes `output`.
    """
    made: list[Node] = []  # last first
    waiting: list[tuple[Node, str]] = [(top, output)]
    while waiting:
        node, written = waiting.pop()
        if node.op == quantize.op:
            made.append(node)
            continue
        stored: dict[str, str] = {}
        for value in dict.fromkeys(_moved(node)):
            stored[value] = draft.value(affine.dtype, view.graph.tensors[value].shape, f"{value}_stored")
            source = _movable(view, value) or _quantising(draft, quantize, value, stored[value])
            waiting.append((source, stored[value]))
        made.append(_on_stored(node, quantize, affine, stored, written))
    return made[::-1]


def _quantising(draft: Draft, quantize: Node, value: str, stored: str) -> Node:
    name = draft.node_name(f"{quantize.name}_of_{value}")
    return replace(quantize, name=name, inputs=(value, *quantize.inputs[1:]), outputs=(stored,))


def _on_stored(move: Node, quantize: Node, affine: Affine, stored: Mapping[str, str], output: str) -> Node:
    """The moving operator on `stored` values, which are named by those that they stand for; it writes `output`."""
    inputs = tuple(stored.get(name, name) for name in move.inputs)
    integer = replace(move, inputs=inputs, outputs=(output,), origin=origins(move, quantize))
    if move.op != "Pad" or move.attributes.get("mode", "constant") != "constant":
        return integer
    padding = affine.quantise(np.array([move.number("value")], np.float32))
    return with_attributes(integer, {"value": int(padding[0])})


def dequantise_after_constants(graph: Graph) -> Graph:
    """Transpose of a dequantised constant: the constant is transposed, so that its DequantizeLinear comes last."""
    draft = Draft(graph=graph)
    constants: dict[str, tuple[Node, Affine, str]] = {}  # float value -> its DequantizeLinear, numbers, constant
    for node in graph.nodes:
        if node.op == "DequantizeLinear" and node.inputs[0] in graph.constants:
            affine = read(graph, node)
            if not isinstance(affine, str):
                constants[node.outputs[0]] = (node, affine, node.inputs[0])
        elif node.op == "Transpose" and node.inputs[0] in constants:
            _transpose_constant(draft, node, constants)
    return draft.finish()


def _transpose_constant(draft: Draft, node: Node, constants: dict[str, tuple[Node, Affine, str]]) -> None:
    dequantise, affine, source = constants[node.inputs[0]]
    array = draft.constants.get(source, draft.graph.constants.get(source))
    if array is None:
        return
    permutation = node.integers("perm")
    name = draft.constant(array.transpose(permutation), f"{source}_transposed")
    axis = None if affine.axis is None else permutation.index(affine.axis)
    attributes: dict[str, Attribute] = {**dequantise.attributes}
    if axis is not None:
        attributes["axis"] = axis
    again = replace(
        dequantise,
        name=node.name,
        inputs=(name, *dequantise.inputs[1:]),
        outputs=node.outputs,
        attributes=attributes,
        origin=origins(node, dequantise),
    )
    draft.replace(node, again)
    constants[node.outputs[0]] = (again, replace(affine, axis=axis), name)


def _move_quantisation(graph: Graph, context: PassContext) -> PassResult:
    moved = sink_dequantise(dequantise_after_constants(graph))
    folded = fold(moved, context, keep=("DequantizeLinear",))
    return PassResult(graph=hoist_quantise(folded))


MOVE_QUANTISATION = GraphPass(
    name="move-quantisation",
    summary="Reshape, Transpose, MaxPool, Concat, Slice, Pad, Gather and ReduceMax work on stored integers",
    apply=_move_quantisation,
    roots=("DequantizeLinear", "QuantizeLinear"),
    after=("merge-duplicates", "fuse-matmul-add", "fold-channel-constants"),
)
