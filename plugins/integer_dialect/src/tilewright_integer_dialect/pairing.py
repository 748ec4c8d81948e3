"""Knows the pass that makes one step of a sum, difference or product of two tensors of bytes and the requantisation
behind it: values of 32 bits between them never exist. Does not know products with weights (`fusing`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tilewright.api.graph import Attribute, DType, Graph, Node
from tilewright.api.passes import GraphPass, PassContext, PassResult
from tilewright_integer_dialect.fusing import narrowed, site_of
from tilewright_integer_dialect.operators.shift import numbers_of

_BYTES = (DType.I8, DType.U8)
_SIGNS: Mapping[str, int] = {"Add": 1, "Sub": -1}


def _pair(graph: Graph, context: PassContext) -> PassResult:
    producer, consumers = graph.producer(), graph.consumers()
    replaced: dict[str, Node] = {}
    gone: set[str] = set()
    for node in graph.nodes:
        result = producer.get(node.inputs[0]) if node.op == "integer.Shift" else None
        if result is None or len(consumers[node.inputs[0]]) > 1 or node.inputs[0] in graph.outputs:
            continue
        step = _step(graph, producer, result, node)
        if step is not None:
            replaced[node.name] = step
            gone.add(result.name)
    if not replaced:
        return PassResult(graph=graph)
    nodes = [replaced.get(node.name, node) for node in graph.nodes if node.name not in gone]
    return PassResult(graph=graph.with_nodes(_read(graph, nodes)))


def _step(graph: Graph, producer: Mapping[str, Node], node: Node, shift: Node) -> Node | None:
    """The step that computes both; None where operands are no bytes, or channels differ."""
    if node.op not in ("Mul", *_SIGNS) or len(shift.requant().scale) > 1:
        return None
    operands = [_byte(graph, producer, name) for name in node.inputs]
    if None in operands or min(numbers_of(graph.site(shift)).multiplier) < 0:
        return None
    origin = (*(node.origin or (node.name,)), *(shift.origin or (shift.name,)))
    words: dict[str, Attribute] = {"requant": shift.requant()}
    made = replace(shift, inputs=tuple(name for name in operands if name), origin=origin)
    if node.op in _SIGNS:
        return replace(made, op="integer.PairSum", attributes={**words, "sign": _SIGNS[node.op]})
    output = graph.tensors[shift.outputs[0]].dtype
    if output not in _BYTES:
        return None
    words |= {"a_zero_point": 0, "b_zero_point": 0, "output_type": output.value}
    product = replace(made, op="QMul", attributes=words)
    return narrowed(site_of(product, graph.tensors, graph.constants))


def _byte(graph: Graph, producer: Mapping[str, Node], name: str) -> str | None:
    """The bytes that a value of 32 bits is a Cast of, or the value itself where it is bytes."""
    cast = producer.get(name)
    source = cast.inputs[0] if cast is not None and cast.op == "Cast" else name
    return source if graph.tensors[source].dtype in _BYTES and source not in graph.constants else None


def _read(graph: Graph, nodes: list[Node]) -> tuple[Node, ...]:
    """The nodes that an output needs: a Cast may have no reader left."""
    needed, kept = set(graph.outputs), list[Node]()
    for node in reversed(nodes):
        if needed.intersection(node.outputs):
            kept.append(node)
            needed.update(node.inputs)
    return tuple(reversed(kept))


PAIRS = GraphPass(
    name="integer.pairs",
    summary="a sum or product of two bytes and the RequantShift behind it are one step",
    apply=_pair,
    after=("integer.fuse", "integer.tables"),
    before=("settle-arithmetic", "merge-lookups", "merge-transposes"),
)
