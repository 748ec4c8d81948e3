"""Knows which family lowers which operator, and what became of every island.
Does not know any family's arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tilewright.errors import Diagnostic
from tilewright.ir.graphs.graph import Graph, Node
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.edit import Draft
from tilewright.rewrite.qdq import conv, conv_transpose, elementwise, gemm, lookup, pool, softmax
from tilewright.rewrite.qdq.island import Island, Lowered, island_before
from tilewright.rewrite.qdq.work import Work
from tilewright.rewrite.view import GraphView

FAMILIES: Mapping[str, Callable[[Island, Node, Work], Lowered]] = MappingProxyType(
    {
        "Add": elementwise.lower_sum,
        "AveragePool": pool.lower_average_pool,
        "Conv": conv.lower,
        "ConvTranspose": conv_transpose.lower,
        "Gemm": gemm.lower_gemm,
        "MatMul": gemm.lower_matmul,
        "Mul": elementwise.lower_product,
        "ReduceMean": pool.lower_reduce_mean,
        "Softmax": softmax.lower,
        "Sub": elementwise.lower_sum,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The graph after lowering, and what the user should know."""

    graph: Graph
    diagnostics: tuple[Diagnostic, ...]


def lower_islands(graph: Graph) -> Outcome:
    """Every island that has an integer form becomes integer; the others stay, each with a warning and the reason."""
    view = GraphView.of(graph)
    work = Work(draft=Draft(graph=graph))
    reasons: dict[str, str] = {}  # by node: why it stays in float
    for quantize in graph.nodes:
        if quantize.op != "QuantizeLinear" or graph.tensors[quantize.inputs[0]].dtype is not DType.F32:
            continue
        island = island_before(view, quantize)
        if isinstance(island, str):
            reasons[_before(view, quantize).name] = island
            continue
        same = lookup.unchanged(island)
        if same is not None and work.draft.bypass(quantize, same):
            continue
        lowered = _lower(island, work)
        if isinstance(lowered, str):
            reasons[_before(view, quantize).name] = lowered
        else:
            work.draft.replace(quantize, *((lowered,) if isinstance(lowered, Node) else lowered))
    lowered_graph = work.draft.finish()
    warnings = _left_in_float(lowered_graph, reasons)
    return Outcome(graph=lowered_graph, diagnostics=(*work.diagnostics, *warnings))


def _lower(island: Island, work: Work) -> Lowered:
    """A table where one suffices, else the operator's family."""
    table = lookup.lower(island, work)
    if isinstance(table, Node) or island.main is None:
        return table
    biased = gemm.lower_biased(island, island.main, work)
    if biased is not None:
        return biased
    family = FAMILIES.get(island.main.op)
    return table if family is None else family(island, island.main, work)


def _before(view: GraphView, quantize: Node) -> Node:
    """The operator whose result is quantised, clips left out: the one to name to the user."""
    node = view.producer.get(quantize.inputs[0])
    while node is not None and node.op == "Clip" and node.inputs[0] in view.producer:
        node = view.producer[node.inputs[0]]
    return node or quantize


def _left_in_float(graph: Graph, reasons: Mapping[str, str]) -> tuple[Diagnostic, ...]:
    """One warning for every operator that computes in float on something that was quantised."""
    tainted: set[str] = set()
    warnings: list[Diagnostic] = []
    for node in graph.nodes:
        if node.op == "DequantizeLinear":
            tainted.update(node.outputs)
        elif node.op != "QuantizeLinear" and tainted.intersection(node.inputs):
            tainted.update(node.outputs)
            warnings.append(_warning(node, reasons.get(node.name, "its result is not quantised")))
    return tuple(warnings)


def _warning(node: Node, reason: str) -> Diagnostic:
    return Diagnostic(
        code="TW3001",
        severity="warning",
        message=f"{node.op} is computed in float, though its inputs are quantised: {reason}",
        where=node.name,
        fix=("quantise its inputs, weights and result per tensor to 8 bits, or accept the float step",),
    )
