"""Knows the pass that joins operators that only move elements: Transpose of Transpose, Reshape of Reshape; and that
drops those that move nothing.
Does not choose layouts; a Transpose that stays may still cost nothing. Bit-equal.
"""

from __future__ import annotations

from dataclasses import replace

from tilewright.ir.graphs.graph import Graph, Node
from tilewright.ir.graphs.operator import GraphPass, PassContext, PassResult
from tilewright.rewrite.edit import Draft, GraphView, origins


def _apply(graph: Graph, context: PassContext) -> PassResult:
    while True:
        simpler = _once(_sunk(graph))
        if simpler is graph:
            return PassResult(graph=graph)
        graph = simpler


def _once(graph: Graph) -> Graph:
    """One sweep over the moving operators, each looking at its own producer."""
    draft = Draft(graph=graph)
    view = GraphView.of(graph)
    for node in graph.nodes:
        if node.op not in ("Reshape", "Transpose"):
            continue
        if _moves_nothing(graph, node):
            draft.bypass(node, node.inputs[0])
            continue
        before = view.producer.get(node.inputs[0])
        if before is not None and before.op == node.op and before.name not in draft.replacements:
            draft.replace(node, _joined(graph, before, node))
    return draft.finish()


def _permutation(graph: Graph, node: Node) -> tuple[int, ...]:
    rank = len(graph.tensors[node.inputs[0]].shape)
    return node.integers("perm", tuple(reversed(range(rank))))


def _moves_nothing(graph: Graph, node: Node) -> bool:
    """Whether elements stay in row-major order in the same shape: a Transpose of axes of extent 1 alone does that."""
    shape = graph.tensors[node.inputs[0]].shape
    if shape != graph.tensors[node.outputs[0]].shape:
        return False
    moved = [axis for axis in _permutation(graph, node) if shape[axis] != 1] if node.op == "Transpose" else []
    return moved == sorted(moved)


def _joined(graph: Graph, first: Node, second: Node) -> Node:
    """Both as one. Their attributes are those of the normal form: `perm`, or the `shape` of the result."""
    attributes = dict(second.attributes)
    if second.op == "Transpose":
        inner = _permutation(graph, first)
        attributes["perm"] = tuple(inner[axis] for axis in _permutation(graph, second))
    return replace(
        second, inputs=(first.inputs[0], *second.inputs[1:]), attributes=attributes, origin=origins(first, second)
    )


def _sunk(graph: Graph) -> Graph:
    """Transpose, elementwise, Transpose back: the first moves behind the elementwise operators to meet the other.

    Only where the second undoes the first and no other node reads a value between them.
    """
    draft = Draft(graph=graph)
    view = GraphView.of(graph)
    for second in graph.nodes:
        if second.op != "Transpose":
            continue
        chain = _chain_above(view, second)
        first = view.producer.get(chain[0].inputs[0]) if chain else None
        if first is None or first.op != "Transpose" or not view.read_once(first.outputs[0]):
            continue
        inner, outer = _permutation(graph, first), _permutation(graph, second)
        undone = [inner[axis] for axis in outer] == list(range(len(inner)))
        if undone and not {node.name for node in chain} & draft.replacements.keys():
            _pull_through(draft, first, chain, second)
    return draft.finish()


def _chain_above(view: GraphView, transpose: Node) -> list[Node]:
    """Elementwise operators of one tensor right above `transpose`, first to last, each read once."""
    chain: list[Node] = []
    value = transpose.inputs[0]
    node = view.producer.get(value)
    while node is not None and view.read_once(value) and _is_uniform(view.graph, node):
        chain.insert(0, node)
        value = node.inputs[0]
        node = view.producer.get(value)
    return chain


def _is_uniform(graph: Graph, node: Node) -> bool:
    """Whether `node` does the same to every element of its one tensor, wherever it stands."""
    if node.op in ("DequantizeLinear", "QuantizeLinear"):
        return graph.tensors[node.inputs[1]].elements == 1
    return node.op in ("Clip", "QLookup")


def _pull_through(draft: Draft, first: Node, chain: list[Node], second: Node) -> None:
    """The chain on the value before `first`, under the names of the values after `second`."""
    value = first.inputs[0]
    shape = draft.graph.tensors[value].shape
    for index, node in enumerate(chain):
        last = index == len(chain) - 1
        dtype = draft.graph.tensors[node.outputs[0]].dtype
        output = second.outputs[0] if last else draft.value(dtype, shape, node.outputs[0])
        draft.replace(node, replace(node, inputs=(value, *node.inputs[1:]), outputs=(output,)))
        value = output
    draft.replace(second)


PASS = GraphPass(
    name="merge-transposes",
    summary="neighbouring Transposes and Reshapes become one, those that undo each other vanish",
    apply=_apply,
    after=("flatten-into-weights",),
)
