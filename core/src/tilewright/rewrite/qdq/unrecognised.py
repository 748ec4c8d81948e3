"""Knows arithmetic that looks like quantisation and was not recognised as such: floats, rounded, then clipped.
Does not know the forms that are recognised; what is left of them after lowering is what this finds.
"""

from __future__ import annotations

from tilewright.errors import Diagnostic
from tilewright.ir.graphs.graph import Graph, Node
from tilewright.ir.tensors.dtypes import DType

_WIDEST = 1 << 16  # steps between the limits: beyond that, rounding is not for the sake of few bits


def unrecognised(graph: Graph) -> tuple[Diagnostic, ...]:
    """A warning TW3004 for every Round whose result, perhaps with a zero point, is clipped to whole numbers."""
    producer = graph.producer()
    return tuple(
        _warning(node) for node in graph.nodes if _clips_to_steps(graph, node) and _rounded(producer, node.inputs[0])
    )


def _clips_to_steps(graph: Graph, node: Node) -> bool:
    if node.op != "Clip" or graph.tensors[node.inputs[0]].dtype is not DType.F32:
        return False
    low, high = node.number("min", -float("inf")), node.number("max", float("inf"))
    return high - low <= _WIDEST and low.is_integer() and high.is_integer()


def _rounded(producer: dict[str, Node], value: str) -> bool:
    node = producer.get(value)
    if node is not None and node.op == "Add":
        return any(name in producer and producer[name].op == "Round" for name in node.inputs)
    return node is not None and node.op == "Round"


def _warning(clip: Node) -> Diagnostic:
    return Diagnostic(
        code="TW3004",
        severity="warning",
        message="this rounds and clips floats as a quantiser does, in a form that is not recognised: it is computed in "
        "float, and so is what reads it",
        where=clip.name,
        fix=("export QuantizeLinear and DequantizeLinear (QDQ) with 8 bits, or accept the float steps",),
    )
