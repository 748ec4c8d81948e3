"""Knows the pass that makes one step of what finds scale and zero point of dynamic quantisation, which the standard,
and the importer, write with ten operators on single numbers: DynamicScale. Bit-equal.
Does not know who quantises with them, nor how the smallest and the largest value are found.

    low = Min(smallest, 0)        span  = Sub(high, low)      scale = Where(Equal(span, 0), 1, Div(span, 255))
    high = Max(largest, 0)        point = Cast(Round(Clip(Sub(0, Div(low, scale)), 0, 255)))
"""

from __future__ import annotations

from tilewright.ir.graphs.graph import Graph, Node
from tilewright.ir.graphs.operator import GraphPass, PassContext, PassResult
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.edit import Draft, GraphView, origins

_STEPS = 255.0


def _apply(graph: Graph, context: PassContext) -> PassResult:
    view, draft = GraphView.of(graph), Draft(graph=graph)
    for node in graph.nodes:
        if node.op == "Cast" and graph.tensors[node.outputs[0]].dtype is DType.U8:
            _replace(view, draft, node)
    return PassResult(graph=draft.finish())


def _replace(view: GraphView, draft: Draft, cast: Node) -> None:
    """Put a DynamicScale where the scale is selected, when `cast` makes its zero point."""
    found = _found(view, cast)
    if found is None:
        return
    where, smallest, largest, nodes = found
    shape = view.graph.tensors[smallest].shape
    if shape != view.graph.tensors[largest].shape or shape != view.graph.tensors[cast.outputs[0]].shape:
        return
    made = Node(
        name=where.name,
        op="DynamicScale",
        inputs=(smallest, largest),
        outputs=(where.outputs[0], cast.outputs[0]),
        origin=origins(*nodes),
    )
    draft.replace(where, made)
    draft.replace(cast)


def _found(view: GraphView, cast: Node) -> tuple[Node, str, str, tuple[Node, ...]] | None:
    """The Where that selects the scale, the smallest and the largest value, and the nodes."""
    whole = _before(view, cast.inputs[0], "Round")
    inside = _before(view, whole.inputs[0], "Clip") if whole else None
    if inside is None or (inside.number("min", -1), inside.number("max", -1)) != (0.0, _STEPS):
        return None
    steps = _before(view, inside.inputs[0], "Sub")
    below = _before(view, steps.inputs[1], "Div") if steps and _is(view, steps.inputs[0], 0) else None
    where = _before(view, below.inputs[1], "Where") if below else None
    if steps is None or below is None or where is None or not _is(view, where.inputs[1], 1):
        return None
    none, step = _before(view, where.inputs[0], "Equal"), _before(view, where.inputs[2], "Div")
    if none is None or step is None or not (_is(view, none.inputs[1], 0) and _is(view, step.inputs[1], _STEPS)):
        return None
    span = _before(view, step.inputs[0], "Sub")
    if span is None or none.inputs[0] != step.inputs[0] or span.inputs[1] != below.inputs[0]:
        return None
    high, low = _before(view, span.inputs[0], "Max"), _before(view, span.inputs[1], "Min")
    if high is None or low is None or not (_is(view, high.inputs[1], 0) and _is(view, low.inputs[1], 0)):
        return None
    nodes = (low, high, span, step, none, where, below, steps, inside, *((whole,) if whole else ()), cast)
    return where, low.inputs[0], high.inputs[0], nodes


def _before(view: GraphView, value: str, op: str) -> Node | None:
    node = view.producer.get(value)
    plain = node is not None and node.op == op and (op == "Clip" or not node.attributes)
    return node if plain else None


def _is(view: GraphView, name: str, number: float) -> bool:
    array = view.graph.constants.get(name)
    return array is not None and array.shape == () and float(array) == number


PASS = GraphPass(
    name="recognise-dynamic-scale",
    summary="what finds the scale and the zero point of dynamic quantisation becomes DynamicScale",
    apply=_apply,
    roots=("Cast",),
    after=("fold-constants", "recognise-decomposed-quantisation"),
    before=("merge-duplicates",),
)
