"""Knows how to satisfy a kernel that takes only one layout: a relayout node in front of it or behind it.
Does not know why the layouts differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tilewright.ir.graphs.graph import Graph, Node, Site
from tilewright.ir.graphs.operands import input_names
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.plans.layer import Layer
from tilewright.ir.tensors.layout import Layout, row_major, same_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Relaid:
    """The graph with relayout nodes (a Transpose that permutes nothing) and the layouts that make them copies."""

    graph: Graph
    layouts: Mapping[str, Layout]


def insert_relayouts(
    graph: Graph, operators: Mapping[str, Operator], layers: Mapping[str, Layer], layouts: Mapping[str, Layout]
) -> Relaid:
    """Insert a relayout wherever a kernel requires another layout than the value has."""
    tensors, chosen, nodes = dict(graph.tensors), dict(layouts), list[Node]()
    for node in graph.nodes:
        site, operator = graph.site(node), operators[node.op]
        required = layers[node.name].required
        before, inputs = _before(site, operator, required, chosen)
        after, outputs = _after(site, operator, required, chosen)
        for extra in (*before, *after):
            for name in (extra.node.inputs[0], extra.node.outputs[0]):
                tensors.setdefault(name, replace(tensors[extra.value], name=name))
        nodes.extend(item.node for item in before)
        nodes.append(replace(node, inputs=inputs, outputs=outputs))
        nodes.extend(item.node for item in after)
    return Relaid(graph=graph.with_nodes(tuple(nodes), tensors=tensors), layouts=chosen)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Extra:
    node: Node
    value: str  # the value it relays out, for its type


def _before(
    site: Site, operator: Operator, required: Mapping[str, Layout], layouts: dict[str, Layout]
) -> tuple[list[_Extra], tuple[str, ...]]:
    extras, inputs = [], list(site.node.inputs)
    for position, (operand, tensor) in enumerate(zip(input_names(operator, site), site.inputs, strict=True)):
        if tensor is None or tensor.name in site.constants or operand not in required:
            continue
        if same_bytes(tensor.shape, required[operand], layouts[tensor.name]):
            continue
        name = f"{tensor.name}:{site.node.name}:{operand}"
        layouts[name] = required[operand]
        extras.append(_extra(f"{site.node.name}:{operand}", tensor.name, name, tensor.name, len(tensor.shape)))
        inputs[position] = name
    return extras, tuple(inputs)


def _after(
    site: Site, operator: Operator, required: Mapping[str, Layout], layouts: dict[str, Layout]
) -> tuple[list[_Extra], tuple[str, ...]]:
    extras, outputs = [], list(site.node.outputs)
    for position, (operand, tensor) in enumerate(zip(operator.outputs, site.outputs, strict=False)):
        if operand not in required or same_bytes(tensor.shape, required[operand], layouts[tensor.name]):
            continue
        name = f"{tensor.name}:{site.node.name}:{operand}"
        layouts[name] = required[operand]
        extras.append(_extra(f"{site.node.name}:{operand}", name, tensor.name, tensor.name, len(tensor.shape)))
        outputs[position] = name
    return extras, tuple(outputs)


def _extra(node_name: str, source: str, target: str, value: str, rank: int) -> _Extra:
    node = Node(
        name=node_name, op="Transpose", inputs=(source,), outputs=(target,), attributes={"perm": row_major(rank)}
    )
    return _Extra(node=node, value=value)
