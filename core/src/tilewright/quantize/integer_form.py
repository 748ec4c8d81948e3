"""Knows which values must stay at 8 bits, because a layer beside them has no integer form with 16: found by asking who
compiles the network, layer by layer. Does not know any layer's integer form itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from tilewright.quantize.bits import Bits

if TYPE_CHECKING:
    from tilewright.quantize.template import Template

InFloat = Callable[[bytes], frozenset[str]]  # a quantised file -> the nodes of it that are computed in float


def all_bits(source: Template, *, wide: bool, narrow: bool) -> Bits:
    """Every value with 16 bits where it is `wide`, and all weights with 4 where they are `narrow`."""
    return Bits(
        wide=frozenset(choice.name for choice in source.choices if wide and choice.kind == "value"),
        narrow=frozenset(choice.name for choice in source.choices if narrow and choice.kind == "weights"),
    )


def in_integers(source: Template, bits: Bits, in_float: InFloat) -> Bits:
    """`bits`, but 8 for the values beside each layer that is computed in float with them, and not with 8."""
    before = in_float(source.written(Bits()))
    while bits.wide:
        nodes = in_float(source.written(bits)) - before
        beside = values_beside(source, nodes) & bits.wide
        if not beside:
            return bits
        bits = Bits(wide=bits.wide - beside, narrow=bits.narrow)
    return bits


def values_beside(source: Template, nodes: frozenset[str]) -> frozenset[str]:
    """The choices that are values, or weights, which these nodes read or write."""
    graph = source.model.graph
    scales = {
        value: node.input[1] for node in graph.node if node.op_type == "DequantizeLinear" for value in node.output
    }
    scales |= {node.input[0]: node.input[1] for node in graph.node if node.op_type == "QuantizeLinear"}
    touched = {
        scales[value]
        for node in graph.node
        if node.name in nodes
        for value in (*node.input, *node.output)
        if value in scales
    }
    return frozenset(name for name, scale in source.scales.items() if scale in touched)


def border(source: Template) -> frozenset[str]:
    """The choices that are inputs or outputs of the network."""
    graph = source.model.graph
    scales = {*_first_scales(graph.node, {value.name for value in graph.input}, "QuantizeLinear")}
    outputs = {value.name for value in graph.output}
    scales.update(_first_scales(reversed(graph.node), outputs, "DequantizeLinear"))
    return frozenset(name for name, scale in source.scales.items() if scale in scales)


def _first_scales(nodes: Iterable[Any], reached: set[str], op: str) -> Iterator[str]:
    """The scales of the first nodes of this operator behind values, or before them where nodes come backwards."""
    for node in nodes:
        near, far = (node.input[:1], node.output) if op == "QuantizeLinear" else (node.output, node.input[:1])
        if reached.intersection(near):
            if node.op_type == op:
                yield node.input[1]
            else:
                reached.update(far)
