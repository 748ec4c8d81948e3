"""Knows the pass that notes, on integer products, which values their first input can have at all (`x_range`).
Does not use it: accumulators are bounded, and requantisations proved, in `arithmetic`. Bit-equal.
"""

from __future__ import annotations

from tilewright.ir.graphs.graph import Graph, Node
from tilewright.ir.graphs.operator import GraphPass, PassContext, PassResult
from tilewright.ir.tensors.requant import Requant
from tilewright.rewrite.edit import Draft, with_attributes

Range = tuple[int, int]

_PRODUCTS = ("QConv", "QGemm", "QMatMul")
_SELECTING = ("MaxPool", "Reshape", "Slice", "Transpose")


def _apply(graph: Graph, context: PassContext) -> PassResult:
    draft = Draft(graph=graph)
    ranges: dict[str, Range] = {}  # values that are narrower than their type
    for node in graph.nodes:
        output_range = _output_range(graph, node, ranges)
        if output_range is not None and output_range != graph.tensors[node.outputs[0]].dtype.limits:
            ranges[node.outputs[0]] = output_range
        input_range = ranges.get(node.inputs[0]) if node.op in _PRODUCTS else None
        if input_range is not None and node.attributes.get("x_range") != input_range:
            draft.replace(node, with_attributes(node, {"x_range": input_range}))
    return PassResult(graph=draft.finish())


def _output_range(graph: Graph, node: Node, ranges: dict[str, Range]) -> Range | None:
    """The smallest and largest value that `node` can write, where that is known."""
    requant = node.attributes.get("requant")
    if isinstance(requant, Requant):
        return requant.low, requant.high
    if node.op == "QAdd":
        return node.integer("low"), node.integer("high")
    if node.op == "QLookup" and node.inputs[1] in graph.constants:
        table = graph.constants[node.inputs[1]].astype(int)
        return int(table.min()), int(table.max())
    if node.op in _SELECTING:
        return ranges.get(node.inputs[0])
    if node.op == "Concat" and all(name in ranges for name in node.inputs):
        parts = [ranges[name] for name in node.inputs]
        return min(low for low, _ in parts), max(high for _, high in parts)
    return None


PASS = GraphPass(
    name="bound-inputs",
    summary="integer products learn which values their input can have",
    apply=_apply,
    roots=_PRODUCTS,
    after=("merge-lookups", "flatten-into-weights", "merge-transposes"),
)
