"""Knows the passes that drop nodes: those that no output depends on, and those that equal an earlier node.
Does not know any operator: all of them are pure.
"""

from __future__ import annotations

from collections.abc import Hashable

from tilewright.ir.graphs.graph import Graph, Node
from tilewright.ir.graphs.operator import GraphPass, PassContext, PassResult
from tilewright.rewrite.edit import Draft, without_dead

_SMALL_ELEMENTS = 64  # constants up to here are compared by content: scales and zero points, often stored many times


DEAD_NODES = GraphPass(
    name="dead-nodes",
    summary="drop nodes and values that no output depends on",
    apply=lambda graph, context: PassResult(graph=without_dead(graph)),
)


def _merge_duplicates(graph: Graph, context: PassContext) -> PassResult:
    draft = Draft(graph=graph)
    same: dict[str, str] = {}  # value -> the equal value that stays
    first: dict[Hashable, Node] = {}
    for node in graph.nodes:
        inputs = tuple(_value_key(graph, same.get(name, name)) for name in node.inputs)
        earlier = first.setdefault((node.op, inputs, tuple(node.attributes.items())), node)
        if earlier is node or len(node.outputs) != 1 or not draft.bypass(node, earlier.outputs[0]):
            continue
        same[node.outputs[0]] = earlier.outputs[0]
    return PassResult(graph=draft.finish())


def _value_key(graph: Graph, name: str) -> Hashable:
    array = graph.constants.get(name)
    if array is None or array.size > _SMALL_ELEMENTS:
        return name
    return array.dtype.str, array.shape, array.tobytes()


MERGE_DUPLICATES = GraphPass(
    name="merge-duplicates",
    summary="compute equal nodes once",
    apply=_merge_duplicates,
    after=("fold-constants",),
)
