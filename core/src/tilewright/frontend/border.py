"""Knows what the integers at a graph's border stand for: the scale and zero point of the nodes next to them.
Does not know how a border becomes integer (`integer_border`), nor what is made of it.
"""

from __future__ import annotations

from dataclasses import replace

from tilewright.ir.graphs.graph import Graph, Node, Quantization
from tilewright.ir.tensors.dtypes import DType

STORED = (DType.I8, DType.U8, DType.I16, DType.U16)  # types of quantised inputs and outputs
AFFINE = frozenset(("QuantizeLinear", "DequantizeLinear"))
_KEEPING = frozenset(("MaxPool", "Reshape", "Slice", "Transpose"))  # what they hand on stands for the same as before


def with_quantization(graph: Graph) -> Graph:
    """The graph, every quantised input and output with its `Quantization`; without where nodes around it differ, where
    it is one for each channel, or where there is none.
    """
    neighbours = _neighbours(graph)
    tensors = dict(graph.tensors)
    for name in (*graph.inputs, *graph.outputs):
        if tensors[name].dtype in STORED and tensors[name].quantization is None:
            tensors[name] = replace(tensors[name], quantization=_meaning(graph, neighbours, name))
    return replace(graph, tensors=tensors)


def quantization_of(graph: Graph, node: Node) -> Quantization | None:
    """The numbers of a QuantizeLinear or DequantizeLinear, where they are known and hold for the whole tensor."""
    scale = graph.constants.get(node.inputs[1])
    has_zero = len(node.inputs) > 2 and node.inputs[2] != ""
    zero = graph.constants.get(node.inputs[2]) if has_zero else None
    if scale is None or scale.size != 1 or (has_zero and (zero is None or zero.size != 1)):
        return None
    return Quantization(scale=(float(scale.item()),), zero_point=(0 if zero is None else int(zero.item()),))


def _neighbours(graph: Graph) -> dict[str, list[Node]]:
    """The nodes that write or read each value as their data; parameters of nodes do not count."""
    found: dict[str, list[Node]] = {name: [] for name in graph.tensors}
    for node in graph.nodes:
        if node.op in AFFINE or node.op in _KEEPING:
            for name in (node.inputs[0], node.outputs[0]):
                found[name].append(node)
    return found


def _meaning(graph: Graph, neighbours: dict[str, list[Node]], name: str) -> Quantization | None:
    """What all nodes that quantise or dequantise this value, moved or not, agree on."""
    found: set[Quantization | None] = set()
    waiting, seen = [name], {name}
    while waiting:
        value = waiting.pop()
        for node in neighbours[value]:
            stored = node.outputs[0] if node.op == "QuantizeLinear" else node.inputs[0]
            if node.op in AFFINE and stored == value:
                found.add(quantization_of(graph, node))
            if node.op in _KEEPING:
                new = {node.inputs[0], node.outputs[0]} - seen
                waiting.extend(sorted(new))
                seen |= new
    return found.pop() if len(found) == 1 else None
