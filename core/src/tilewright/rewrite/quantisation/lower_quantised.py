"""Knows the pass that turns quantised islands into integer operators.
Does not keep the bits of the float simulation: DQ, float, Q and the integer formula differ by one step in rare ties.
The integer formula (docs/architecture.md, section 4) is the one that tilewright promises.
"""

from __future__ import annotations

from tilewright.ir.graphs.graph import Graph
from tilewright.ir.graphs.graph_pass import GraphPass, PassContext, PassResult
from tilewright.rewrite.qdq.lowering import lower_islands
from tilewright.rewrite.qdq.unrecognised import unrecognised


def _apply(graph: Graph, context: PassContext) -> PassResult:
    outcome = lower_islands(graph)
    return PassResult(graph=outcome.graph, diagnostics=(*outcome.diagnostics, *unrecognised(outcome.graph)))


PASS = GraphPass(
    name="lower-quantised",
    summary="DequantizeLinear, operator, QuantizeLinear become one integer operator",
    apply=_apply,
    after=("move-quantisation",),
)
