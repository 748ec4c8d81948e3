"""Knows what an order of nodes costs in memory: which pieces each node touches, and when a piece lives.
Does not know how a good order is found, nor offsets: the cost of an order is the most bytes alive at once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from tilewright.ir.graph import Node
from tilewright.ir.operands import input_names
from tilewright.ir.operator import Operator
from tilewright.ir.stages import Bound
from tilewright.schedule.storage import Sharing, view_aliases


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderTask:
    """Nodes and pieces by number. Sets of nodes are bit masks. A piece is a value with everything that is a view of it,
    alive from the first node that touches it to the last."""

    nodes: tuple[str, ...]
    needs: tuple[int, ...]  # by node: nodes that must have run
    touches: tuple[tuple[int, ...], ...]  # by node: pieces it reads or writes
    in_place: tuple[tuple[tuple[int, int], ...], ...]  # by node: (piece that may be overwritten, piece that would)
    sizes: tuple[int, ...]  # by piece
    touched_by: tuple[int, ...]  # by piece: nodes
    from_start: frozenset[int]  # pieces that live before any node has run
    to_end: frozenset[int]  # pieces that never die

    @property
    def everything(self) -> int:
        """All nodes."""
        return (1 << len(self.nodes)) - 1

    @property
    def alive_at_start(self) -> int:
        """Bytes of the pieces that are there before any node has run."""
        return sum(self.sizes[piece] for piece in self.from_start)

    @property
    def floor(self) -> int:
        """Bytes that some node needs in any order."""
        return max((self._least(node) for node in range(len(self.nodes))), default=0)

    def ready(self, done: int) -> list[int]:
        """Nodes that may run next, in the given order."""
        return [n for n, needs in enumerate(self.needs) if not done >> n & 1 and needs & ~done == 0]

    def run(self, node: int, done: int, alive: int) -> tuple[int, int]:
        """Bytes alive while `node` runs after the nodes `done`, and after it."""
        after = done | 1 << node
        born = [p for p in self.touches[node] if not self.touched_by[p] & done and p not in self.from_start]
        dead = [p for p in self.touches[node] if not self.touched_by[p] & ~after and p not in self.to_end]
        during = alive + sum(self.sizes[piece] for piece in born)
        saved = (self.sizes[new] for old, new in self.in_place[node] if old in dead and new in born)
        return during - max(saved, default=0), during - sum(self.sizes[piece] for piece in dead)

    def peak(self, order: Iterable[int]) -> int:
        """The cost of a complete order."""
        done, alive, peak = 0, self.alive_at_start, 0
        for node in order:
            during, alive = self.run(node, done, alive)
            done, peak = done | 1 << node, max(peak, during)
        return peak

    def _least(self, node: int) -> int:
        saved = (self.sizes[new] for _, new in self.in_place[node])
        return sum(self.sizes[piece] for piece in self.touches[node]) - max(saved, default=0)


def order_task(bound: Bound, operators: Mapping[str, Operator], theirs: Collection[str] = ()) -> OrderTask:
    """The task of ordering `bound`'s nodes. Values in `theirs` are in the caller's memory and cost nothing."""
    graph = bound.graph
    sharing = Sharing(graph)
    views = set()
    for node in graph.nodes:
        aliases = view_aliases(node, bound, operators)
        if aliases and sharing.add_all(aliases):
            views.add(node.name)
    values = [value for value in graph.tensors if value not in graph.constants]
    roots = {value: sharing.root(value)[0] for value in values}
    number = {root: index for index, root in enumerate(dict.fromkeys(roots.values()))}
    piece = {value: number[root] for value, root in roots.items()}
    sizes = [0] * len(number)
    for value, index in piece.items():
        sizes[index] = max(sizes[index], sharing.bytes_of(value)[1])
    for value in theirs:
        if value in piece:
            sizes[piece[value]] = 0
    position = {node.name: index for index, node in enumerate(graph.nodes)}
    makers = graph.producer()
    touches = tuple(
        ()
        if node.name in views
        else tuple(dict.fromkeys(piece[value] for value in (*node.inputs, *node.outputs) if value in piece))
        for node in graph.nodes
    )
    needs = [
        sum(1 << i for i in {position[makers[value].name] for value in node.inputs if value in makers})
        for node in graph.nodes
    ]
    touched_by = [0] * len(number)
    for index, pieces in enumerate(touches):
        for touched in pieces:
            touched_by[touched] |= 1 << index
    return OrderTask(
        nodes=tuple(node.name for node in graph.nodes),
        needs=tuple(needs),
        touches=touches,
        in_place=tuple(() if node.name in views else _pairs(node, bound, operators, piece) for node in graph.nodes),
        sizes=tuple(sizes),
        touched_by=tuple(touched_by),
        from_start=frozenset(piece[value] for value in graph.inputs),
        to_end=frozenset(piece[value] for value in graph.outputs if value in piece),
    )


def _pairs(
    node: Node, bound: Bound, operators: Mapping[str, Operator], piece: Mapping[str, int]
) -> tuple[tuple[int, int], ...]:
    """What the node's kernel may overwrite, as pieces; a graph input is never overwritten."""
    graph, site, operator = bound.graph, bound.graph.site(node), operators[node.op]
    inputs = dict(zip(input_names(operator, site), node.inputs, strict=False))
    outputs = dict(zip(operator.outputs, node.outputs, strict=False))
    pairs = []
    for operand, result in bound.layers[node.name].in_place:
        source, target = inputs.get(operand, ""), outputs[result]
        fits = source in piece and graph.tensors[source].size_bytes == graph.tensors[target].size_bytes
        if fits and source not in graph.inputs:
            pairs.append((piece[source], piece[target]))
    return tuple(pairs)
