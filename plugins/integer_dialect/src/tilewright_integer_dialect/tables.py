"""Knows the pass that makes a table of whatever turns one byte into another: requantisations, activations and constant
sums behind each other. Does not know products (`fusing`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tilewright.api.graph import DType, Graph, Node, Site, Tensor
from tilewright.api.operator import Operator
from tilewright.api.passes import GraphPass, PassContext, PassResult

_BYTES = (DType.I8, DType.U8)
_OWN = ("integer.Shift", "integer.GELU", "integer.Hardswish")
_WITH_CONSTANT = ("Add", "Sub", "Mul")
_ENTRIES = 256


def _tabulate(graph: Graph, context: PassContext) -> PassResult:
    producer = graph.producer()
    constants, tensors = dict(graph.constants), dict(graph.tensors)
    replaced: dict[str, Node] = {}
    for node in graph.nodes:
        chain = _chain(graph, producer, node)
        if chain is None:
            continue
        start = _operand(graph, chain[0])
        name = _fresh(f"{node.outputs[0]}_table", tensors)
        constants[name] = _table(graph, chain, context.operators)
        tensors[name] = Tensor(name=name, dtype=graph.tensors[node.outputs[0]].dtype, shape=(_ENTRIES,))
        origin = tuple(dict.fromkeys(each for part in chain for each in (part.origin or (part.name,))))
        replaced[node.name] = replace(node, op="QLookup", inputs=(start, name), attributes={}, origin=origin)
    if not replaced:
        return PassResult(graph=graph)
    nodes = [replaced.get(node.name, node) for node in graph.nodes]
    return PassResult(graph=graph.with_nodes(_read(graph, nodes), constants=constants, tensors=tensors))


def _chain(graph: Graph, producer: Mapping[str, Node], last: Node) -> list[Node] | None:
    """The nodes between a byte and the byte that `last` writes, first to last; None where there is no such chain."""
    if graph.tensors[last.outputs[0]].dtype not in _BYTES or not _unary(graph, last):
        return None
    chain = [last]
    while graph.tensors[_operand(graph, chain[0])].dtype not in _BYTES:
        node = producer.get(_operand(graph, chain[0]))
        if node is None or not _unary(graph, node):
            return None
        chain.insert(0, node)
    return chain if any(node.op in _OWN for node in chain) else None


def _unary(graph: Graph, node: Node) -> bool:
    """Whether each element follows from one element, the same way everywhere."""
    if node.op == "integer.Shift":
        return len(node.requant().scale) == 1
    if node.op in _WITH_CONSTANT:
        known = [graph.constants[name] for name in node.inputs if name in graph.constants]
        same_shape = graph.tensors[_operand(graph, node)].shape == graph.tensors[node.outputs[0]].shape
        return len(known) == 1 and known[0].size == 1 and same_shape
    return node.op in ("Cast", "Clip", *_OWN)


def _operand(graph: Graph, node: Node) -> str:
    """The input that is computed."""
    return next((name for name in node.inputs if name not in graph.constants), node.inputs[0])


def _table(graph: Graph, chain: list[Node], operators: Mapping[str, Operator]) -> Any:
    """What the chain makes of every byte, the smallest first."""
    import numpy as np

    start = graph.tensors[_operand(graph, chain[0])]
    low, high = start.dtype.limits
    values = np.arange(low, high + 1, dtype=np.int64).astype(start.dtype.numpy)
    for node in chain:
        operand = _operand(graph, node)
        arrays = [values if name == operand else graph.constants[name].reshape(1) for name in node.inputs]
        tensors = tuple(
            replace(graph.tensors[name], shape=array.shape) for name, array in zip(node.inputs, arrays, strict=True)
        )
        output = replace(graph.tensors[node.outputs[0]], shape=(_ENTRIES,))
        flat = replace(node, attributes={**node.attributes, "axis": 0}) if node.op == "integer.Shift" else node
        constants = {name: array for name, array in zip(node.inputs, arrays, strict=True) if name != operand}
        site = Site(node=flat, inputs=tensors, outputs=(output,), constants=constants)
        values = np.asarray(operators[node.op].reference(site, arrays)[0])
    return values


def _read(graph: Graph, nodes: list[Node]) -> tuple[Node, ...]:
    """The nodes that an output needs."""
    needed, kept = set(graph.outputs), list[Node]()
    for node in reversed(nodes):
        if needed.intersection(node.outputs):
            kept.append(node)
            needed.update(node.inputs)
    return tuple(reversed(kept))


def _fresh(hint: str, taken: Mapping[str, Tensor]) -> str:
    name, count = hint, 1
    while name in taken:
        count += 1
        name = f"{hint}_{count}"
    return name


TABLES = GraphPass(
    name="integer.tables",
    summary="what turns one byte into another is a table",
    apply=_tabulate,
    after=("integer.fuse",),
    before=("settle-arithmetic", "merge-lookups", "merge-transposes"),
)
