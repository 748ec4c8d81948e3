"""Knows which values of a bound graph share bytes whatever the order of its nodes is: a value and its views, one piece.
Does not know any order, nor when a piece is alive.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tilewright.ir.graphs.graph import Graph, Node
from tilewright.ir.graphs.operands import input_names
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.plans.stages import Bound
from tilewright.schedule.storage import Sharing, offered_pairs, view_aliases


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
    sharing = Sharing(bound.graph, pins=pins)
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
