"""Knows the pass that computes constant nodes at compile time, the quantisation of float weights included.
Does not know how to fold; `folding` does. DequantizeLinear stays: it is what tells quantised weights from float ones.
"""

from __future__ import annotations

from tilewright.ir.graphs.graph import Graph
from tilewright.ir.graphs.graph_pass import GraphPass, PassContext, PassResult
from tilewright.rewrite.fold.folding import fold


def _apply(graph: Graph, context: PassContext) -> PassResult:
    return PassResult(graph=fold(graph, context, keep=("DequantizeLinear",)))


PASS = GraphPass(
    name="fold-constants",
    summary="compute nodes of constant inputs at compile time; weights quantised by nodes become integers",
    apply=_apply,
    after=("dead-nodes",),
)
