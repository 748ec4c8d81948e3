"""Knows, for one graph, who writes and reads each value: what passes look up again and again.
Does not know how to change anything; `edit` does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tilewright.ir.graphs.graph import Graph, Node


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphView:
    """A graph with its writers and readers, worked out once."""

    graph: Graph
    producer: Mapping[str, Node]
    consumers: Mapping[str, list[Node]]
    position: Mapping[str, int]  # of each node, by name, in the order of the graph

    @classmethod
    def of(cls, graph: Graph) -> GraphView:
        """The view of `graph`."""
        position = {node.name: index for index, node in enumerate(graph.nodes)}
        return cls(graph=graph, producer=graph.producer(), consumers=graph.consumers(), position=position)

    def read_once(self, value: str) -> bool:
        """Whether exactly one node reads `value`, and nobody outside does."""
        return len(self.consumers[value]) == 1 and value not in self.graph.outputs

    def compile_time(self, value: str) -> bool:
        """Whether `value` is a constant, or the DequantizeLinear of one."""
        if value in self.graph.constants:
            return True
        node = self.producer.get(value)
        return node is not None and node.op == "DequantizeLinear" and node.inputs[0] in self.graph.constants
