"""Knows the pass that lets MatMulInteger and ConvInteger write floats: a Cast of their sums, the product with the
operands' scales, and the addition of a bias become their inputs S, F and C. Bit-equal.
Does not know where scales come from: dynamic quantisation computes one of them, or both.

    sums -> Cast(f32) -> Mul(scale) -> [Add(bias)]        scale = Mul(S, F), or is F alone
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tilewright.ir.graphs.graph import Graph, Node
from tilewright.ir.graphs.operator import GraphPass, PassContext, PassResult
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.edit import Draft, GraphView, origins

_CHANNELS = {"MatMulInteger": -1, "ConvInteger": 1}  # the axis of the result that scales and addends may run along
_INPUTS = 4  # operands and their zero points, before S, F and C


@dataclass(frozen=True, slots=True, kw_only=True)
class _Channels:
    """Which values fit the channels of one product's result."""

    shape: tuple[int, ...]
    axis: int

    def operand(self, draft: Draft, value: str) -> str:
        """`value` as one number or a vector of one for each channel; "" where it broadcasts otherwise."""
        graph, rank = draft.graph, len(self.shape)
        tensor = graph.tensors[value]
        if tensor.dtype is not DType.F32 or len(tensor.shape) > rank:
            return ""
        count, axis = self.shape[self.axis], self.axis % rank
        spread = (*(1,) * (rank - len(tensor.shape)), *tensor.shape)
        if any(extent != 1 for index, extent in enumerate(spread) if index != axis) or spread[axis] not in (1, count):
            return ""
        if tensor.shape in ((), (1,)) or (tensor.shape == (count,) and axis == rank - 1):
            return value
        known = graph.constants.get(value)
        return "" if known is None else draft.constant(known.reshape(-1), f"{value}_of_channels")


def _apply(graph: Graph, context: PassContext) -> PassResult:
    view, draft = GraphView.of(graph), Draft(graph=graph)
    for node in graph.nodes:
        if node.op in _CHANNELS and graph.tensors[node.outputs[0]].dtype is DType.I32:
            _scale(view, draft, node)
    return PassResult(graph=draft.finish())


def _scale(view: GraphView, draft: Draft, product: Node) -> None:
    cast = _reader(view, product.outputs[0], "Cast")
    scaling = _reader(view, cast.outputs[0], "Mul") if cast is not None else None
    if cast is None or scaling is None or view.graph.tensors[cast.outputs[0]].dtype is not DType.F32:
        return
    channels = _Channels(shape=view.graph.tensors[product.outputs[0]].shape, axis=_CHANNELS[product.op])
    scales = _scales(view, draft, channels, _other(scaling, cast.outputs[0]))
    if scales is None:
        return
    adding = _reader(view, scaling.outputs[0], "Add")
    addend = channels.operand(draft, _other(adding, scaling.outputs[0])) if adding is not None else ""
    chain = (product, cast, scaling, *((adding,) if adding is not None and addend else ()))
    for node in chain[:-1]:
        draft.replace(node)
    inputs = (*product.inputs, *("",) * (_INPUTS - len(product.inputs)), *scales, *((addend,) if addend else ()))
    made = Node(
        name=product.name,
        op=product.op,
        inputs=inputs,
        outputs=chain[-1].outputs,
        attributes=product.attributes,
        origin=origins(*chain),
    )
    draft.replace(chain[-1], made)


def _scales(view: GraphView, draft: Draft, channels: _Channels, scale: str) -> tuple[str, str] | None:
    """S and F; S is "" where `scale` is no product of one number and something else that fits."""
    for left, right in _halves(view.producer.get(scale)):
        if view.graph.tensors[left].shape in ((), (1,)) and view.graph.tensors[left].dtype is DType.F32:
            factor = channels.operand(draft, right)
            if factor:
                return left, factor
    whole = channels.operand(draft, scale)
    return ("", whole) if whole else None


def _halves(node: Node | None) -> Sequence[tuple[str, str]]:
    """The inputs of a plain Mul, either first."""
    if node is None or node.op != "Mul" or node.attributes:
        return ()
    left, right = node.inputs
    return (left, right), (right, left)


def _reader(view: GraphView, value: str, op: str) -> Node | None:
    """The only node that reads `value`, where that is an `op` that does nothing else and reads it once."""
    if not view.read_once(value):
        return None
    node = view.consumers[value][0]
    fits = node.op == op and node.inputs.count(value) == 1 and (op == "Cast" or not node.attributes)
    return node if fits else None


def _other(node: Node, value: str) -> str:
    return node.inputs[1] if node.inputs[0] == value else node.inputs[0]


PASS = GraphPass(
    name="scale-integer-products",
    summary="integer products write what a Cast, the product with scales and the addition of a bias make of their sums",
    apply=_apply,
    roots=tuple(_CHANNELS),
    after=("fold-constants", "merge-duplicates"),
    before=("dequantise-sums", "fold-channel-constants"),
)
