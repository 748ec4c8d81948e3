"""Knows what is said of constants of 4 or 2 bits that no pass could keep so: they become floats. Does not know which do
not (`packed_products`, `qdq`).
"""

from __future__ import annotations

from collections.abc import Iterator

from tilewright.errors import Diagnostic
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.graphs.operator import GraphPass, PassContext, PassResult
from tilewright.ir.rounding import ceil_div
from tilewright.rewrite.edit import GraphView


def _apply(graph: Graph, context: PassContext) -> PassResult:
    return PassResult(graph=graph, diagnostics=tuple(_notes(graph)))


def _notes(graph: Graph) -> Iterator[Diagnostic]:
    view = GraphView.of(graph)
    for node in graph.nodes:
        bits = node.weight_bits
        if node.op != "DequantizeLinear" or bits == 8:
            continue
        count = graph.tensors[node.outputs[0]].elements
        readers = sorted({reader.op for reader in view.consumers.get(node.outputs[0], ())})
        yield Diagnostic(
            code="TW3016",
            severity="warning",
            message=f"{count:,} weights of {bits} bits become float32: {4 * count:,} B of flash, and not "
            f"{ceil_div(count * bits, 8):,} B; {' and '.join(readers) or 'an output'} takes floats",
            where=node.name,
            fix=("quantise what the operator reads and writes, too (QDQ)", "or use MatMulNBits, or MatMul and Gemm"),
        )


PASS = GraphPass(
    name="report-widened",
    summary="say which constants of 4 or 2 bits become floats",
    apply=_apply,
    roots=("DequantizeLinear",),
    after=("settle-arithmetic",),
    before=("fold-dequantised",),
)
