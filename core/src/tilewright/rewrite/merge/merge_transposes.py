"""Knows the pass that joins operators that only move elements: Transpose of Transpose, Reshape of Reshape; and that
drops those that move nothing.
Does not choose layouts; a Transpose that stays may still cost nothing. Bit-equal.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tilewright.ir.graphs.graph import Graph, Node
from tilewright.ir.graphs.operator import GraphPass, PassContext, PassResult
from tilewright.rewrite.edit import Draft, GraphView, origins, with_attributes


def _apply(graph: Graph, context: PassContext) -> PassResult:
    while True:
        simpler = _joined_moves(_sunk(graph))
        if simpler is graph:
            return PassResult(graph=graph)
        graph = simpler


def _joined_moves(graph: Graph) -> Graph:
    """One sweep over the moving operators, each joined with what the sweep has made of its own producer."""
    draft, view = Draft(graph=graph), GraphView.of(graph)
    same: dict[str, str] = {}  # value -> the equal one that is read instead
    moves: dict[str, _Move] = {}  # by the value that is written
    for node in graph.nodes:
        if node.op not in ("Reshape", "Transpose"):
            continue
        move = _move(graph, node, same, moves)
        value = node.outputs[0]
        if _moves_nothing(graph, move.made) and draft.bypass(node, move.made.inputs[0]):
            same[value] = move.made.inputs[0]
        else:
            moves[value] = move
    absorbed = {move.joined for move in moves.values() if move.joined and view.read_once(move.joined)}
    for value, move in moves.items():
        if move.joined and value not in absorbed:
            draft.replace(move.node, replace(move.made, origin=origins(*_joined_nodes(moves, value, absorbed))))
    return draft.finish()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Move:
    """A moving operator of the graph, what becomes of it, and the value of the one that it was joined with, or ""."""

    node: Node
    made: Node
    joined: str


def _move(graph: Graph, node: Node, same: Mapping[str, str], moves: Mapping[str, _Move]) -> _Move:
    source = same.get(node.inputs[0], node.inputs[0])
    read = node if source == node.inputs[0] else replace(node, inputs=(source, *node.inputs[1:]))
    before = moves.get(source)
    if before is None or before.node.op != node.op:
        return _Move(node=node, made=read, joined="")
    return _Move(node=node, made=_joined(graph, before.made, read), joined=source)


def _joined_nodes(moves: Mapping[str, _Move], value: str, absorbed: Collection[str]) -> list[Node]:
    """The nodes that the move to `value` stands for, first to last: those of values that nothing else reads, and one
    before them.
    """
    nodes = [moves[value].node]
    while moves[value].joined:
        value = moves[value].joined
        nodes.append(moves[value].node)
        if value not in absorbed:
            break
    return nodes[::-1]


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
    return replace(second, inputs=(first.inputs[0], *second.inputs[1:]), attributes=attributes)


def _sunk(graph: Graph) -> Graph:
    """Transpose, elementwise, Transpose back: both vanish, and the elementwise operators work on the other order.

    Only where the second undoes the first and no other node reads a value between them. Pairs may stand in pairs.
    """
    draft = Draft(graph=graph)
    for chain in _chains(graph):
        kept = _without_pairs(graph, chain)
        if kept is not None:
            _write(draft, chain, kept)
    return draft.finish()


def _chains(graph: Graph) -> Iterator[list[Node]]:
    """Runs of Transposes and elementwise operators of one tensor, each the only reader of the one before."""
    view = GraphView.of(graph)
    chains: dict[str, list[Node]] = {}  # by the value that the last node writes
    for node in graph.nodes:
        if node.op != "Transpose" and not _is_uniform(graph, node):
            continue
        source = node.inputs[0]
        chain = chains.pop(source) if source in chains and view.read_once(source) else []
        chain.append(node)
        chains[node.outputs[0]] = chain
    return iter(chains.values())


def _is_uniform(graph: Graph, node: Node) -> bool:
    """Whether `node` does the same to every element of its one tensor, wherever it stands."""
    if node.op in ("DequantizeLinear", "QuantizeLinear"):
        return graph.tensors[node.inputs[1]].elements == 1
    return node.op in ("Clip", "QLookup")


def _without_pairs(graph: Graph, chain: Sequence[Node]) -> list[Node] | None:
    """The chain without Transposes that undo each other; neighbours may be joined. None where none has a partner."""
    kept: dict[int, Node] = {}  # by place in the chain, in order
    open_places: list[int] = []  # of Transposes that nothing has undone yet
    paired = False
    for place, node in enumerate(chain):
        if node.op != "Transpose":
            kept[place] = node
            continue
        permutation = _permutation(graph, node)
        while open_places and next(reversed(kept)) == open_places[-1]:  # nothing stands between the two
            first = _permutation(graph, kept.pop(open_places.pop()))
            permutation = tuple(first[axis] for axis in permutation)
        identity = tuple(range(len(permutation)))
        if permutation == identity:
            continue
        last = _permutation(graph, kept[open_places[-1]]) if open_places else ()
        if last and tuple(last[axis] for axis in permutation) == identity:
            del kept[open_places.pop()]
            paired = True
            continue
        open_places.append(place)
        kept[place] = with_attributes(node, {"perm": permutation})
    return list(kept.values()) if paired else None


def _write(draft: Draft, chain: Sequence[Node], kept: Sequence[Node]) -> None:
    """Put `kept` where `chain` is. Values that hold another order of axes than before have other names."""
    value = chain[0].inputs[0]
    kept_nodes = {node.name: node for node in kept}
    tensors = draft.graph.tensors
    before = after = tuple(range(len(tensors[value].shape)))
    base = tensors[value].shape
    for original in chain:
        before = _moved(draft.graph, original, before)
        node = kept_nodes.get(original.name)
        if node is None:
            draft.replace(original)
            continue
        after = _moved(draft.graph, node, after)
        output = original.outputs[0]
        if node is kept[-1]:
            output = chain[-1].outputs[0]
        elif after != before:
            shape = tuple(base[axis] for axis in after)
            output = draft.value(tensors[output].dtype, shape, output)
        draft.replace(original, replace(node, inputs=(value, *node.inputs[1:]), outputs=(output,)))
        value = output


def _moved(graph: Graph, node: Node, order: tuple[int, ...]) -> tuple[int, ...]:
    """Which axes of the chain's first value those of the node's result are, where its operand has them in `order`."""
    return tuple(order[axis] for axis in _permutation(graph, node)) if node.op == "Transpose" else order


PASS = GraphPass(
    name="merge-transposes",
    summary="neighbouring Transposes and Reshapes become one, those that undo each other vanish",
    apply=_apply,
    roots=("Reshape", "Transpose"),
    after=("flatten-into-weights",),
)
