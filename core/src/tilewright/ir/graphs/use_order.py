"""Knows an order of a graph's nodes, tensors and constants that depends on what reads what, and on nothing else.
Does not know what an order costs: the planner tries others.

A file may list the nodes of one network in many orders. Whatever breaks ties by a node's place gives the same plan for
all of them where nodes stand in this order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tilewright.ir.graphs.graph import Graph, Node


def in_order_of_use(graph: Graph) -> Graph:
    """The same graph, its nodes in the order in which a reader of its outputs meets them: of every node, output by
    output, first what writes its first input, then what writes the second, and so on. Nodes that no output needs come
    last, as they stand.
    """
    nodes = tuple(_met(graph))
    inside = {name for node in nodes for name in (*node.inputs, *node.outputs)}
    names = dict.fromkeys((*graph.inputs, *(name for node in nodes for name in (*node.inputs, *node.outputs) if name)))
    rest = (name for name in graph.tensors if name not in inside)
    order = tuple(dict.fromkeys((*names, *rest)))
    return replace(
        graph,
        nodes=nodes,
        tensors={name: graph.tensors[name] for name in order if name in graph.tensors},
        constants={name: graph.constants[name] for name in order if name in graph.constants},
    )


def _met(graph: Graph) -> Iterator[Node]:
    """Every node once, after all that write what it reads."""
    writer, met = graph.producer(), set[str]()
    wanted = [writer[name] for name in reversed(graph.outputs) if name in writer]
    for started in (wanted, [*reversed(graph.nodes)]):
        while started:
            node = started[-1]
            before = [writer[name] for name in reversed(node.inputs) if name in writer and writer[name].name not in met]
            if before and node.name not in met:
                started.extend(before)
                continue
            started.pop()
            if node.name not in met:
                met.add(node.name)
                yield node
