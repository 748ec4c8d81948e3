"""Knows orders of a graph's nodes: the given one, and one that keeps fewer bytes alive.
Does not know views or in-place pairs; the planner compares what really comes out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from heapq import heapify, heappop, heappush

from tilewright.ir.graphs.graph import Graph, Node


def given_order(graph: Graph) -> tuple[str, ...]:
    """The order of the graph itself."""
    return tuple(node.name for node in graph.nodes)


def in_order(graph: Graph, order: Iterable[str]) -> Graph:
    """The same graph with its nodes in this order, which names each once, and in which each can run."""
    nodes = {node.name: node for node in graph.nodes}
    return replace(graph, nodes=tuple(nodes[name] for name in order))


def frugal_order(graph: Graph) -> tuple[str, ...]:
    """Always run the ready node after which the fewest bytes are alive; ties in the given order."""
    consumers, producer = graph.consumers(), graph.producer()
    readers = {value: {node.name for node in nodes} for value, nodes in consumers.items()}
    waiting = {node.name: {producer[name].name for name in node.inputs if name in producer} for node in graph.nodes}
    position = {node.name: index for index, node in enumerate(graph.nodes)}
    nodes = {node.name: node for node in graph.nodes}
    ready = [(_growth(nodes[name], graph, readers), position[name], name) for name in nodes if not waiting[name]]
    heapify(ready)
    order: dict[str, None] = {}
    while ready:
        growth, _, best = heappop(ready)
        if best in order or growth != _growth(nodes[best], graph, readers):
            continue  # it is there again, with what is true now
        order[best] = None
        freed = {node.name for value in nodes[best].outputs for node in consumers[value]}
        for name in freed:
            waiting[name].discard(best)
        for value in nodes[best].inputs:
            left = readers.get(value, set())
            left.discard(best)
            freed |= left if len(left) == 1 else set()
        for name in freed:
            if not waiting[name] and name not in order:
                heappush(ready, (_growth(nodes[name], graph, readers), position[name], name))
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
