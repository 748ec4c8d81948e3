"""Knows the pass that computes constant nodes at compile time, the quantisation of float weights included.
Does not know how to fold; `folding` does. DequantizeLinear stays: it is what tells quantised weights from float ones.
"""

from __future__ import annotations

from tilewright.graph import Graph
from tilewright.rewrite.folding import fold
from tilewright.rewrite.graph_pass import GraphPass, PassContext, PassResult


def _apply(graph: Graph, context: PassContext) -> PassResult:
    return PassResult(graph=fold(graph, context, keep=("DequantizeLinear",)))


PASS = GraphPass(
    name="fold-constants",
    summary="compute nodes of constant inputs at compile time; weights quantised by nodes become integers",
    apply=_apply,
    after=("dead-nodes",),
)
