"""Knows the pass that brings operators without arithmetic to the integer side of Q and DQ. Bit-equal.
Does not know the moves; `qdq.movement` does.
"""

from __future__ import annotations

from tilewright.ir.graphs.graph import Graph
from tilewright.ir.graphs.graph_pass import GraphPass, PassContext, PassResult
from tilewright.rewrite.fold.folding import fold
from tilewright.rewrite.qdq.movement import dequantise_after_constants, hoist_quantise, sink_dequantise


def _apply(graph: Graph, context: PassContext) -> PassResult:
    moved = sink_dequantise(dequantise_after_constants(graph))
    folded = fold(moved, context, keep=("DequantizeLinear",))
    return PassResult(graph=hoist_quantise(folded))


PASS = GraphPass(
    name="move-quantisation",
    summary="Reshape, Transpose, MaxPool, Concat, Slice and Pad work on stored integers",
    apply=_apply,
    after=("merge-duplicates", "fuse-matmul-add", "fold-batch-norm"),
)
