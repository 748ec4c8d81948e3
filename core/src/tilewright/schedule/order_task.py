"""Knows what an order of nodes costs in memory: which pieces each node touches, and when a piece lives. A piece is a
value with all its views, which share bytes whatever the order is.
Does not know how a good order is found, nor offsets: the cost of an order is the most bytes alive at once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from tilewright.ir.graphs.graph import Graph, Node
from tilewright.ir.graphs.operator import Operator, input_names
from tilewright.ir.machines.routes import copy_grain
from tilewright.ir.plans.operand_aligns import aligns_of
from tilewright.ir.plans.stages import Bound
from tilewright.schedule.storage import Sharing, offered_pairs, view_aliases


def members(nodes: int) -> list[int]:
    """The numbers in a bit mask, largest first."""
    result = []
    while nodes:
        result.append(nodes.bit_length() - 1)
        nodes ^= 1 << result[-1]
    return result


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderTask:
    """Nodes and pieces by number. Sets of nodes are bit masks. A piece is a value with everything that is a view of it,
    alive from the first node that touches it to the last."""

    nodes: tuple[str, ...]
    needs: tuple[int, ...]  # by node: nodes that must have run
    touches: tuple[tuple[int, ...], ...]  # by node: pieces it reads or writes
    in_place: tuple[tuple[tuple[int, int], ...], ...]  # by node: (piece that may be overwritten, piece that would)
    scratch: tuple[int, ...]  # by node: bytes that it needs while it runs, beside its pieces
    sizes: tuple[int, ...]  # by piece
    touched_by: tuple[int, ...]  # by piece: nodes
    from_start: frozenset[int]  # pieces that live before any node has run, but for those that nobody touches
    to_end: frozenset[int]  # pieces that never die
    exact: bool = True  # no schedule of these nodes has fewer bytes alive than `peak` says

    @property
    def everything(self) -> int:
        """All nodes."""
        return (1 << len(self.nodes)) - 1

    @property
    def alive_at_start(self) -> int:
        """Bytes of the pieces that are there before any node has run."""
        return sum(self.sizes[piece] for piece in self.from_start)

    def backward(self) -> OrderTask:
        """The task seen from its end, nodes and time turned round: an order of one, read backwards, is one of the other
        with the same peak."""

        def turned(nodes: int) -> int:
            return int(f"{nodes:0{len(self.nodes)}b}"[::-1], 2)

        followers = [0] * len(self.nodes)
        for node, needs in enumerate(self.needs):
            for earlier in members(needs):
                followers[earlier] |= 1 << node
        return replace(
            self,
            nodes=self.nodes[::-1],
            needs=tuple(turned(nodes) for nodes in reversed(followers)),
            touches=self.touches[::-1],
            in_place=tuple(tuple((new, old) for old, new in pairs) for pairs in reversed(self.in_place)),
            scratch=self.scratch[::-1],
            touched_by=tuple(turned(nodes) for nodes in self.touched_by),
            from_start=self.to_end,
            to_end=self.from_start,
        )

    def run(self, node: int, done: int, alive: int) -> tuple[int, int]:
        """Bytes alive while `node` runs after the nodes `done`, and after it."""
        after = done | 1 << node
        born = [p for p in self.touches[node] if not self.touched_by[p] & done and p not in self.from_start]
        dead = [p for p in self.touches[node] if not self.touched_by[p] & ~after and p not in self.to_end]
        both = alive + sum(self.sizes[piece] for piece in born)
        pairs = ((old, new) for old, new in self.in_place[node] if old in dead and new in born)
        saved = max((min(self.sizes[old], self.sizes[new]) for old, new in pairs), default=0)
        during = both - saved + self.scratch[node]
        return during, both - sum(self.sizes[piece] for piece in dead)

    def peak(self, order: Iterable[int]) -> int:
        """The cost of a complete order."""
        done, alive, peak = 0, self.alive_at_start, 0
        for node in order:
            during, alive = self.run(node, done, alive)
            done, peak = done | 1 << node, max(peak, during)
        return peak


def order_task(
    bound: Bound,
    operators: Mapping[str, Operator],
    theirs: Collection[str] = (),
    scratch: Mapping[str, int] = MappingProxyType({}),
    pins: Mapping[str, str] = MappingProxyType({}),
) -> OrderTask:
    """The task of ordering `bound`'s nodes. Values in `theirs` are in the caller's memory and cost nothing.

    `scratch` is bytes by node, `pins` the memory of values that are pinned: what is pinned apart shares nothing.
    """
    result, graph = pieces_of(bound, operators, theirs, pins), bound.graph
    views, piece, sizes = result.views, result.of, result.sizes
    touches = tuple(() if node.name in views else _touched(node, piece) for node in graph.nodes)
    touched_by = _touched_by(touches, len(sizes))
    return OrderTask(
        nodes=tuple(node.name for node in graph.nodes),
        needs=_needs(graph),
        touches=touches,
        in_place=tuple(tuple((piece[old], piece[new]) for old, new in pairs) for pairs in result.in_place),
        scratch=tuple(0 if node.name in views else scratch.get(node.name, 0) for node in graph.nodes),
        sizes=sizes,
        touched_by=touched_by,
        from_start=frozenset(piece[value] for value in graph.inputs if touched_by[piece[value]]),
        to_end=frozenset(piece[value] for value in graph.outputs if value in piece),
        exact=result.exact,
    )


def _touched(node: Node, piece: Mapping[str, int]) -> tuple[int, ...]:
    """The pieces that a node reads or writes, each once."""
    return tuple(dict.fromkeys(piece[value] for value in (*node.inputs, *node.outputs) if value in piece))


def _touched_by(touches: Sequence[Sequence[int]], pieces: int) -> tuple[int, ...]:
    """By piece the nodes that touch it."""
    result = [0] * pieces
    for node, touched in enumerate(touches):
        for piece in touched:
            result[piece] |= 1 << node
    return tuple(result)


def _needs(graph: Graph) -> tuple[int, ...]:
    position = {node.name: index for index, node in enumerate(graph.nodes)}
    makers = graph.producer()
    return tuple(
        sum(1 << i for i in {position[makers[value].name] for value in node.inputs if value in makers})
        for node in graph.nodes
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Pieces:
    """The values of a bound graph but constants, those that share bytes in every order as one piece."""

    views: frozenset[str]  # nodes that execute nothing
    of: Mapping[str, int]  # value -> piece
    sizes: tuple[int, ...]  # by piece, bytes; 0 in the caller's memory
    in_place: tuple[tuple[tuple[str, str], ...], ...]  # by node: (value that may be overwritten, value that would)
    exact: bool  # no order has other pieces, or overwrites a part of one


def pieces_of(
    bound: Bound,
    operators: Mapping[str, Operator],
    theirs: Collection[str] = (),
    pins: Mapping[str, str] = MappingProxyType({}),
) -> Pieces:
    """The arguments are those of `order_task`."""
    sharing = Sharing(bound.graph, pins=pins, aligns=aligns_of(bound, operators), grain=copy_grain(bound.platform))
    views, settled = _views(bound, operators, sharing)
    piece, sizes = _pieces(bound.graph, sharing, theirs)
    pairs = [() if node.name in views else _pairs(node, bound, operators, sharing) for node in bound.graph.nodes]
    alike = all(sizes[piece[old]] == sizes[piece[new]] and _fills(old, sharing) for some in pairs for old, new in some)
    return Pieces(views=views, of=piece, sizes=sizes, in_place=tuple(pairs), exact=settled and alike)


def _views(bound: Bound, operators: Mapping[str, Operator], sharing: Sharing) -> tuple[frozenset[str], bool]:
    """Nodes that only give bytes another name, and whether they are the same ones in every order. They need not be:
    of two that would put one value into different others, the first does."""
    views, settled = set(), True
    for node in bound.graph.nodes:
        aliases = view_aliases(node, bound, operators)
        if aliases and sharing.add_all(aliases):
            views.add(node.name)
        elif aliases:
            settled = settled and not sharing.untouched().add_all(aliases)
    return frozenset(views), settled


def _pieces(graph: Graph, sharing: Sharing, theirs: Collection[str]) -> tuple[dict[str, int], tuple[int, ...]]:
    """The piece of every value but constants, and bytes by piece."""
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
    return piece, tuple(sizes)


def _pairs(
    node: Node, bound: Bound, operators: Mapping[str, Operator], sharing: Sharing
) -> tuple[tuple[str, str], ...]:
    """(input, output) where the node's kernel may overwrite the one with the other; a graph input never is."""
    graph, site, operator = bound.graph, bound.graph.site(node), operators[node.op]
    inputs = dict(zip(input_names(operator, site), node.inputs, strict=False))
    outputs = dict(zip(operator.outputs, node.outputs, strict=False))
    pairs = []
    for operand, result in offered_pairs(node, bound):
        source, target = inputs.get(operand, ""), outputs[result]
        ours = source in graph.tensors and source not in graph.constants and source not in graph.inputs
        alone = not sharing.is_inside(target)
        if ours and alone and graph.tensors[source].size_bytes == graph.tensors[target].size_bytes:
            pairs.append((source, target))
    return tuple(pairs)


def _fills(value: str, sharing: Sharing) -> bool:
    """Whether every value that shares a buffer with `value` has bytes in common with it: all die before it may be
    overwritten. Where one has none, a part of a buffer may be overwritten while the rest of it is still read."""
    low, high = sharing.bytes_of(value)
    ranges = (sharing.bytes_of(name) for name in sharing.members(sharing.root(value)[0]))
    return all(start < high and low < end for start, end in ranges)
