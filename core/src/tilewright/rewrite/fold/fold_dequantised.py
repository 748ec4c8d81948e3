"""Knows the pass that turns what is left of dequantised constants into float constants.
Does not know which were left: those of islands that could not be lowered to integers.
"""

from __future__ import annotations

from tilewright.ir.graphs.graph import Graph
from tilewright.ir.graphs.graph_pass import GraphPass, PassContext, PassResult
from tilewright.rewrite.fold.folding import fold


def _apply(graph: Graph, context: PassContext) -> PassResult:
    return PassResult(graph=fold(graph, context))


PASS = GraphPass(
    name="fold-dequantised",
    summary="dequantise at compile time the constants of operators that stay in float",
    apply=_apply,
    after=("lower-quantised",),
)
