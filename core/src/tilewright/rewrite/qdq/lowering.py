"""Knows the pass that turns quantised islands into integer operators: which family lowers which operator, and what is
said about nodes that stay in float, or quantise in a form that is not recognised. Does not know any arithmetic.

The bits of the float simulation are not kept: DQ, float, Q and the integer formula differ by one step in rare ties.
The integer formula (docs/architecture.md, section 4) is the one that tilewright promises.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from tilewright.errors import Diagnostic
from tilewright.ir.graphs.graph import Graph, Node
from tilewright.ir.graphs.operator import GraphPass, PassContext, PassResult
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.edit import Draft, GraphView
from tilewright.rewrite.qdq import lookup
from tilewright.rewrite.qdq.channels import lower_channels
from tilewright.rewrite.qdq.conv_transpose import lower_conv_transpose
from tilewright.rewrite.qdq.elementwise import ELEMENTWISE
from tilewright.rewrite.qdq.island import Island, Lowered, island_before
from tilewright.rewrite.qdq.left_in_float import left_in_float
from tilewright.rewrite.qdq.masked_softmax import lower_softmax
from tilewright.rewrite.qdq.movement import MOVING
from tilewright.rewrite.qdq.normalisation import ROWS, lower_normalisation
from tilewright.rewrite.qdq.products import lower_biased, lower_conv, lower_gemm, lower_matmul
from tilewright.rewrite.qdq.selection import lower_selection
from tilewright.rewrite.qdq.unweighted import (
    lower_average_pool,
    lower_log_softmax,
    lower_product,
    lower_reduce,
    lower_resize,
    lower_sum,
)
from tilewright.rewrite.qdq.weights import Work

_WIDEST = 1 << 16  # steps between the limits: beyond that, rounding is not for the sake of few bits
FAMILIES: Mapping[str, Callable[[Island, Node, Work], Lowered]] = MappingProxyType(
    {
        "Add": lower_sum,
        "AveragePool": lower_average_pool,
        "Conv": lower_conv,
        "ConvTranspose": lower_conv_transpose,
        "Gemm": lower_gemm,
        "LogSoftmax": lower_log_softmax,
        "MatMul": lower_matmul,
        "Max": lower_selection,
        "Min": lower_selection,
        "Mul": lower_product,
        "ReduceMean": lower_reduce,
        "ReduceSum": lower_reduce,
        "ResizeLinear": lower_resize,
        "Softmax": lower_softmax,
        "Sub": lower_sum,
        "Where": lower_selection,
    }
)
_INTEGER = frozenset((*FAMILIES, *ELEMENTWISE, *MOVING, *ROWS))  # what has an integer form, quantised as it takes


def _lower_islands(graph: Graph, context: PassContext) -> PassResult:
    """Every island that has an integer form becomes integer; the others stay, each with a warning and the reason."""
    view = GraphView.of(graph)
    work = Work(draft=Draft(graph=graph))
    reasons: dict[str, str] = {}  # by node: why it stays in float
    covered: set[str] = set()  # clips behind one of these
    for quantize in graph.nodes:
        if quantize.op != "QuantizeLinear" or graph.tensors[quantize.inputs[0]].dtype is not DType.F32:
            continue
        island = island_before(view, quantize)
        if isinstance(island, str):
            reasons[_before(view, quantize, covered).name] = island
            continue
        same = lookup.unchanged(island)
        if same is not None and work.draft.bypass(quantize, same):
            continue
        lowered = _lower(island, work)
        if isinstance(lowered, str):
            reasons[_before(view, quantize, covered).name] = lowered
        else:
            work.draft.replace(quantize, *((lowered,) if isinstance(lowered, Node) else lowered))
    lowered_graph = work.draft.finish()
    warnings = (*left_in_float(lowered_graph, reasons, covered, _INTEGER), *unrecognised(lowered_graph))
    return PassResult(graph=lowered_graph, diagnostics=(*work.diagnostics, *warnings))


def _lower(island: Island, work: Work) -> Lowered:
    """A table where one suffices, else the operator's family, else a factor for each channel."""
    table = lookup.lower(island, work)
    if isinstance(table, Node) or island.main is None:
        return table
    lowered = _lower_operator(island, island.main, work, table)
    channels = lower_channels(island, work) if isinstance(lowered, str) else lowered
    return lowered if isinstance(channels, str) else channels


def _lower_operator(island: Island, main: Node, work: Work, otherwise: Lowered) -> Lowered:
    """What its family makes of `main`, or of the operator before a product with one number."""
    for several in (lower_biased, lower_normalisation):
        joined = several(island, main, work)
        if joined is not None:
            return joined
    before = island.before_factor()
    if before is not None and before.main is not None:
        return _lower_operator(before, before.main, work, otherwise)
    family = FAMILIES.get(main.op)
    return otherwise if family is None else family(island, main, work)


def _before(view: GraphView, quantize: Node, clips: set[str]) -> Node:
    """The operator whose result is quantised, clips left out (and noted): the one to name to the user."""
    node = view.producer.get(quantize.inputs[0])
    while node is not None and node.op == "Clip" and node.inputs[0] in view.producer:
        clips.add(node.name)
        node = view.producer[node.inputs[0]]
    return node or quantize


def unrecognised(graph: Graph) -> tuple[Diagnostic, ...]:
    """A warning TW3004 for every Round whose result, perhaps with a zero point, is clipped to whole numbers."""
    producer = graph.producer()
    return tuple(
        Diagnostic(
            code="TW3004",
            severity="warning",
            message="this rounds and clips floats as a quantiser does, in a form that is not recognised: it is "
            "computed in float, and so is what reads it",
            where=node.name,
            fix=("export QuantizeLinear and DequantizeLinear (QDQ) with 8 bits, or accept the float steps",),
        )
        for node in graph.nodes
        if _clips_to_steps(graph, node) and _rounded(producer, node.inputs[0])
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


LOWER_QUANTISED = GraphPass(
    name="lower-quantised",
    summary="DequantizeLinear, operator, QuantizeLinear become one integer operator",
    apply=_lower_islands,
    roots=("DequantizeLinear", "QuantizeLinear", "Round"),
    after=("move-quantisation",),
)
