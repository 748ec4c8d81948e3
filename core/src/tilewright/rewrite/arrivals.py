"""Knows where an input that arrives in rows enters the graph: an Arrival behind it, which all others read instead.
Does not know which inputs do, nor which axis their rows are along.
"""

from __future__ import annotations

from dataclasses import replace

from tilewright.ir.graph import Graph, Node
from tilewright.rewrite.edit import fresh


def with_arrival(graph: Graph, name: str) -> Graph:
    """The graph with an Arrival of input `name`: behind Reshapes and Transposes that everything passes, because these
    are other names for the bytes that the application hands over.
    """
    value = _moved(graph, name)
    arrived = fresh(f"{value}:arrived", graph.tensors)
    node = Node(
        name=fresh(f"{name}:arrival", {one.name for one in graph.nodes}),
        op="Arrival",
        inputs=(value,),
        outputs=(arrived,),
    )
    first = next(at for at, one in enumerate(graph.nodes) if value in one.inputs)
    after = tuple(
        replace(one, inputs=tuple(arrived if read == value else read for read in one.inputs))
        for one in graph.nodes[first:]
    )
    tensors = {**graph.tensors, arrived: replace(graph.tensors[value], name=arrived)}
    return graph.with_nodes((*graph.nodes[:first], node, *after), tensors=tensors).verify()


def _moved(graph: Graph, name: str) -> str:
    """What the input becomes by moving alone, as long as nothing else reads it: first Reshapes, then Transposes."""
    readers, value, transposed = graph.consumers(), name, False
    while len(readers[value]) == 1:
        (node,) = readers[value]
        transposed |= node.op == "Transpose"
        moves = node.op == ("Transpose" if transposed else "Reshape") and node.inputs[0] == value
        if not moves or node.outputs[0] in graph.outputs:
            break
        value = node.outputs[0]
    return value if readers[value] else name
