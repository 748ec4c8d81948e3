"""Knows the pass that drops nodes no graph output depends on. Does not know any operator."""

from __future__ import annotations

from tilewright.ir.graphs.graph import Graph
from tilewright.ir.graphs.graph_pass import GraphPass, PassContext, PassResult
from tilewright.rewrite.edit import without_dead


def _apply(graph: Graph, context: PassContext) -> PassResult:
    return PassResult(graph=without_dead(graph))


PASS = GraphPass(
    name="dead-nodes",
    summary="drop nodes and values that no output depends on",
    apply=_apply,
)
