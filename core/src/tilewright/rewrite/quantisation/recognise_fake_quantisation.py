"""Knows quantisation written as arithmetic: Div, Round, Clip, Mul become QuantizeLinear and DequantizeLinear.
Does not know how these two are lowered.

    x -> Div(s) -> [Add(0)] -> Round -> [Add(z)] -> Clip(low, high) -> [Sub(z)] -> Mul(s)

Results are the same except that NaN becomes 0 and -0 becomes 0. A zero point added *before* Round is left as it
is: the sum rounds once more, so that results near ties would differ. Source: exports of PyTorch and Brevitas.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from tilewright.ir.graphs.graph import Graph, Node
from tilewright.ir.graphs.operator import GraphPass, PassContext, PassResult
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.edit import Draft, GraphView, origins

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """One fake quantisation: its nodes, first to last, and its numbers."""

    nodes: tuple[Node, ...]
    source: str
    scale: Array
    zero_point: int
    low: int
    high: int

    @property
    def dtype(self) -> DType:
        """The 8-bit type that holds `low` to `high`."""
        return DType.I8 if self.low < 0 else DType.U8


def _apply(graph: Graph, context: PassContext) -> PassResult:
    view = GraphView.of(graph)
    draft = Draft(graph=graph)
    for node in graph.nodes:
        chain = _chain(view, node)
        if chain is None:
            continue
        axis = scale_axis(chain.scale.shape, graph.tensors[chain.source].shape)
        if axis is not None and _range_holds(graph, chain):
            _replace(draft, chain, axis)
    return PassResult(graph=draft.finish())


def _chain(view: GraphView, last: Node) -> Chain | None:
    """The fake quantisation that ends at `last`, or None."""
    scaled = _with_constant(view, last, "Mul")
    if scaled is None:
        return None
    value, scale = scaled
    nodes = [last]
    value, removed = _shifted(view, value, "Sub", nodes)
    clip = _step(view, value, "Clip", nodes)
    if clip is None:
        return None
    low, high = clip.number("min", -math.inf), clip.number("max", math.inf)
    if not (low.is_integer() and high.is_integer()):
        return None
    value, added = _shifted(view, clip.inputs[0], "Add", nodes)
    rounding = _step(view, value, "Round", nodes)
    if rounding is None:
        return None
    value, nothing = _shifted(view, rounding.inputs[0], "Add", nodes)
    divided = _with_constant(view, view.producer.get(value), "Div")
    if divided is None or nothing or removed != added or not np.array_equal(divided[1], scale):
        return None
    if (
        not view.read_once(value)
        or divided[1].dtype != np.float32
        or not np.all(np.asarray(divided[1], np.float32) > 0)
    ):
        return None
    nodes.append(view.producer[value])
    return Chain(
        nodes=tuple(reversed(nodes)),
        source=divided[0],
        scale=divided[1],
        zero_point=added,
        low=int(low),
        high=int(high),
    )


def _step(view: GraphView, value: str, op: str, nodes: list[Node]) -> Node | None:
    node = view.producer.get(value)
    if node is None or node.op != op or not view.read_once(value):
        return None
    nodes.append(node)
    return node


def _with_constant(view: GraphView, node: Node | None, op: str) -> tuple[str, Array] | None:
    """The other operand of a plain `op` with a constant, and the constant (the divisor of Div)."""
    if node is None or node.op != op or node.attributes:
        return None
    orders = (node.inputs,) if op in ("Div", "Sub") else (node.inputs, node.inputs[::-1])
    for other, name in orders:
        if name in view.graph.constants and other not in view.graph.constants:
            return other, view.graph.constants[name]
    first, second = node.inputs
    constants = view.graph.constants
    return (first, constants[second]) if op == "Div" and second in constants else None  # weights: both constant


def _shifted(view: GraphView, value: str, op: str, nodes: list[Node]) -> tuple[str, int]:
    """The value before an optional Add or Sub of a whole number, and that number; 0 where there is no such node."""
    node = view.producer.get(value)
    operands = _with_constant(view, node, op)
    if node is None or operands is None or not view.read_once(value):
        return value, 0
    other, constant = operands
    if constant.size != 1 or not float(constant.reshape(-1)[0]).is_integer():
        return value, 0
    nodes.append(node)
    return other, int(constant.reshape(-1)[0])


def scale_axis(scale: tuple[int, ...], shape: tuple[int, ...]) -> int | None:
    """The axis of `shape` that a scale runs along (0 for a single scale); None when it is more than one axis."""
    long = [index - len(scale) for index, extent in enumerate(scale) if extent != 1]
    if not long:
        return 0
    if len(long) > 1 or len(scale) > len(shape) or shape[long[0]] != scale[long[0]]:
        return None
    return len(shape) + long[0]


def _range_holds(graph: Graph, chain: Chain) -> bool:
    """Whether the saturation of the 8-bit type is the chain's own clipping."""
    lowest, highest = chain.dtype.limits
    if not lowest <= chain.zero_point <= highest or chain.low < lowest or chain.high > highest:
        return False
    if (chain.low, chain.high) == (lowest, highest):
        return True
    weights = graph.constants.get(chain.source)
    if weights is None:
        return False
    stored = np.rint(np.asarray(weights, np.float32) / np.asarray(chain.scale, np.float32)) + np.float32(
        chain.zero_point
    )
    return bool(((stored >= chain.low) & (stored <= chain.high)).all())


def _replace(draft: Draft, chain: Chain, axis: int) -> None:
    last = chain.nodes[-1]
    scale = chain.scale.reshape(() if chain.scale.size == 1 else (-1,))
    zero = np.full(scale.shape, chain.zero_point, chain.dtype.numpy)
    parameters = (draft.constant(scale, f"{last.name}/scale"), draft.constant(zero, f"{last.name}/zero_point"))
    shape = draft.graph.tensors[chain.source].shape
    stored = draft.value(chain.dtype, shape, f"{last.name}/stored")
    origin = origins(*chain.nodes)
    quantize = Node(
        name=draft.node_name(f"{last.name}/quantise"),
        op="QuantizeLinear",
        inputs=(chain.source, *parameters),
        outputs=(stored,),
        attributes={"axis": axis, "to": chain.dtype.value},
        origin=origin,
    )
    dequantize = replace(
        quantize, name=last.name, op="DequantizeLinear", inputs=(stored, *parameters), outputs=last.outputs
    )
    for node in chain.nodes[:-1]:
        draft.replace(node)
    draft.replace(last, quantize, replace(dequantize, attributes={"axis": axis}))


PASS = GraphPass(
    name="recognise-fake-quantisation",
    summary="quantisation written as Div, Round, Clip, Mul becomes QuantizeLinear and DequantizeLinear",
    apply=_apply,
    roots=("Round",),
    before=("fold-constants",),
)
