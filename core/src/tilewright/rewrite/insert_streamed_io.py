"""Knows where rows enter and leave the graph: an Arrival behind an input, whose output all nodes read instead, and
a Departure before an output. Does not know which inputs and outputs these are, nor which axis their rows are along.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tilewright.ir.graphs.graph import Graph, Node
from tilewright.ir.plans.decisions import IoOwner
from tilewright.rewrite.edit import fresh


def with_streamed_io(graph: Graph, owners: Mapping[str, IoOwner]) -> Graph:
    """The graph with an Arrival for each input that is pushed, and a Departure for each output that is pulled."""
    for name, owner in owners.items():
        graph = with_arrival(graph, name) if owner == "push" else with_departure(graph, name)
    return graph


def with_arrival(graph: Graph, name: str) -> Graph:
    """The graph with an Arrival of input `name`: behind Reshapes and Transposes on every path from it, because these
    are other names for the bytes that the application hands over.
    """
    value = _moved(graph, name)
    arrived = fresh(f"{value}:arrived", graph.tensors)
    first = next(at for at, node in enumerate(graph.nodes) if value in node.inputs)
    after = tuple(_reading(node, value, arrived) for node in graph.nodes[first:])
    nodes = (*graph.nodes[:first], _streaming_node(graph, "Arrival", name, value, arrived), *after)
    return _with(graph, nodes, value, arrived)


def with_departure(graph: Graph, name: str) -> Graph:
    """The graph with a Departure of output `name`: before Reshapes and Transposes whose inputs nothing else reads,
    because these are other names for the bytes that the application takes. Other readers of the output read the value
    that departs.
    """
    value = _moving(graph, name)
    leaving = fresh(f"{value}:leaving", graph.tensors)
    made = next(at for at, node in enumerate(graph.nodes) if value in node.outputs)
    outputs = tuple(leaving if written == value else written for written in graph.nodes[made].outputs)
    maker = replace(graph.nodes[made], outputs=outputs)
    inside = value == name  # otherwise only what moves it reads the value
    after = tuple(_reading(node, value, leaving) if inside else node for node in graph.nodes[made + 1 :])
    nodes = (*graph.nodes[:made], maker, _streaming_node(graph, "Departure", name, leaving, value), *after)
    return _with(graph, nodes, value, leaving)


def _streaming_node(graph: Graph, op: str, tensor: str, read: str, written: str) -> Node:
    name = fresh(f"{tensor}:{op.lower()}", {node.name for node in graph.nodes})
    return Node(name=name, op=op, inputs=(read,), outputs=(written,))


def _reading(node: Node, old: str, new: str) -> Node:
    return replace(node, inputs=tuple(new if read == old else read for read in node.inputs))


def _with(graph: Graph, nodes: Sequence[Node], like: str, added: str) -> Graph:
    tensors = {**graph.tensors, added: replace(graph.tensors[like], name=added)}
    return graph.with_nodes(tuple(nodes), tensors=tensors).verify()


def _moved(graph: Graph, name: str) -> str:
    """The value that first Reshapes, then Transposes make of the input, as far as each value has one reader."""
    readers, value, transposed = graph.consumers(), name, False
    while len(readers[value]) == 1:
        (node,) = readers[value]
        transposed |= node.op == "Transpose"
        moves = node.op == ("Transpose" if transposed else "Reshape") and node.inputs[0] == value
        if not moves or node.outputs[0] in graph.outputs:
            break
        value = node.outputs[0]
    return value if readers[value] else name


def _moving(graph: Graph, name: str) -> str:
    """The value that the output is by Reshapes alone, or Transposes alone, as far as each value has one reader."""
    readers, makers, value = graph.consumers(), graph.producer(), name
    moves = makers[name].op if not readers[name] and makers[name].op in ("Reshape", "Transpose") else ""
    while makers[value].op == moves:
        source = makers[value].inputs[0]
        if source not in makers or source in graph.outputs or len(readers[source]) != 1:
            break
        value = source
    return value
