"""Knows orders of a graph's nodes: the given one, and one that keeps fewer bytes alive.
Does not know views or in-place pairs; the planner compares what really comes out.
"""

from __future__ import annotations

from tilewright.ir.graph import Graph, Node


def given_order(graph: Graph) -> tuple[str, ...]:
    """The order of the graph itself."""
    return tuple(node.name for node in graph.nodes)


def frugal_order(graph: Graph) -> tuple[str, ...]:
    """Always run the ready node after which the fewest bytes are alive; ties in the given order."""
    readers = {value: {node.name for node in nodes} for value, nodes in graph.consumers().items()}
    producer = graph.producer()
    waiting = {node.name: {producer[name].name for name in node.inputs if name in producer} for node in graph.nodes}
    position = {node.name: index for index, node in enumerate(graph.nodes)}
    nodes = {node.name: node for node in graph.nodes}
    order: list[str] = []
    while waiting:
        ready = [name for name, needs in waiting.items() if not needs]
        best = min(ready, key=lambda name: (_growth(nodes[name], graph, readers), position[name]))
        order.append(best)
        del waiting[best]
        for needs in waiting.values():
            needs.discard(best)
        for value in nodes[best].inputs:
            readers.get(value, set()).discard(best)
    return tuple(order)


def _growth(node: Node, graph: Graph, readers: dict[str, set[str]]) -> int:
    """Bytes alive after `node` minus bytes alive before it."""
    born = sum(graph.tensors[name].size_bytes for name in node.outputs)
    dead = sum(
        graph.tensors[name].size_bytes
        for name in dict.fromkeys(node.inputs)
        if name and name not in graph.constants and readers[name] == {node.name} and name not in graph.outputs
    )
    return born - dead
