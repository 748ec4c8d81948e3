"""Knows how a bound graph computes a value again: the node that writes it stands once more, before later readers.
Does not know which values are worth it (`plan/recomputation`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import chain, count

from tilewright.errors import TilewrightError, usage_error
from tilewright.ir.graphs.graph import Graph, Node
from tilewright.ir.plans.decisions import Recomputation
from tilewright.ir.plans.stages import Bound

_AGAIN = ":again"


def recomputed(bound: Bound, wanted: Sequence[Recomputation]) -> Bound:
    """The binding with these values computed again, one after the other: a reader may be a node that an earlier one
    has added. Raises TilewrightError TW1118 (exit 2) where one cannot be.
    """
    for recomputation in wanted:
        bound = computed_again(bound, recomputation)[0] if recomputation.readers else bound
    return bound


def computed_again(bound: Bound, wanted: Recomputation) -> tuple[Bound, str]:
    """The binding with a further node for these readers, and the node's name. Its kernel, its layout and its constants
    are those of the node that writes the value.

    Raises TilewrightError TW1118 (exit 2) where no node writes just this value, or a reader does not read it.
    """
    graph, value = bound.graph, wanted.value
    node = _writer(graph, wanted)
    nodes = {member.name for member in graph.nodes}
    again = replace(node, name=_fresh(node.name, nodes), outputs=(_fresh(value, graph.tensors),))
    copied = again.outputs[0]
    tensors = {**graph.tensors, copied: replace(graph.tensors[value], name=copied)}
    after = graph.with_nodes(_with(graph.nodes, again, wanted), tensors=tensors).verify()
    changed = replace(
        bound,
        graph=after,
        bindings={**bound.bindings, again.name: replace(bound.bindings[node.name], node=again.name)},
        layouts={**bound.layouts, copied: bound.layouts[value]},
        layers={**bound.layers, again.name: bound.layers[node.name]},
    )
    return changed, again.name


def first_name(name: str) -> str:
    """Of a node or a value that stands for another one that is computed again: that other one's."""
    return name.partition(_AGAIN)[0]


def _with(nodes: Sequence[Node], again: Node, wanted: Recomputation) -> tuple[Node, ...]:
    """`again` before the first of its readers, which read what it writes."""
    first = next(at for at, node in enumerate(nodes) if node.name in wanted.readers)
    copied = again.outputs[0]
    read = [_reading(node, wanted.value, copied) if node.name in wanted.readers else node for node in nodes]
    return (*read[:first], again, *read[first:])


def _reading(node: Node, old: str, new: str) -> Node:
    return replace(node, inputs=tuple(new if read == old else read for read in node.inputs))


def _writer(graph: Graph, wanted: Recomputation) -> Node:
    value = wanted.value
    result = graph.producer().get(value)
    if result is None:
        raise _impossible(wanted, "no step computes it", "name a value that a step computes")
    if len(result.outputs) != 1:
        raise _impossible(wanted, f"'{result.name}' computes other values, too", "leave it out")
    readers = [reader.name for reader in graph.consumers().get(value, ())]
    if others := [name for name in wanted.readers if name not in readers]:
        told = ", ".join(readers) or "none"
        raise _impossible(wanted, f"'{others[0]}' does not read it", f"name some of its readers, which are: {told}")
    if value not in graph.outputs and not set(readers) - set(wanted.readers):
        raise _impossible(wanted, "nobody would read it the first time", "leave out its first reader")
    return result


def _impossible(wanted: Recomputation, reason: str, fix: str) -> TilewrightError:
    return usage_error("TW1118", f"'{wanted.value}' cannot be computed again: {reason}", fix=(fix,))


def _fresh(name: str, taken: Collection[str]) -> str:
    """What a copy is called, and a copy of a copy."""
    hint = first_name(name) + _AGAIN
    names = chain((hint,), (f"{hint}_{number}" for number in count(2)))
    return next(option for option in names if option not in taken)
