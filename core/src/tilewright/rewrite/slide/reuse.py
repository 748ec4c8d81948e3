"""Knows which elements of every value a call need not compute, because the call before has: the exact reuse analysis.
Does not know what is worth keeping, nor how a network is rewritten for it.

A window of an input's axis moves on by HOP elements from call to call, so for its elements new[i] == old[i + HOP].
Behind strides a value moves on by whole elements in `lag` calls: HOP 1 and stride 2 take turns in two phases, and `old`
is then the call before the last. What holds for a lag holds for its multiples, with as many times the shift.

Theorem. Let a node compute element i of its output, along one axis and whatever the other indices are, by one function
of the elements `step*i + first` to `step*i + last` of each input that has a time axis, a position outside the input
giving padding, and of inputs that are the same in every call. Let new[j] == old[j + shift] hold for the elements j of
[low, high - shift) of each of these inputs, with one quotient shift/step that is a whole number s. Then for the
output new[i] == old[i + s] for all i of [low', high' - s), where [low', high') are the elements whose reads lie in
every [low, high): `step*i + first + shift == step*(i + s) + first`, so i in the new window and i + s in the old one
read equal elements and none of the padding, and what is computed is one function of them.

That a node is so is read from the index map of its operator: the output's axis is one loop alone, that loop is in
the time axis of an input as one term beside loops of reductions, and no input that is not shifted is indexed by it.
What a map cannot say, that the function is the same for all i, holds for the operators of `SAME_EVERYWHERE`.
Everything else is computed anew, which is always right.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from tilewright.ir.access.index import Index, bare_loop, mentions
from tilewright.ir.access.index_map import MapAccess
from tilewright.ir.graphs.graph import Graph, Node, Site
from tilewright.ir.graphs.operator import Operator, input_names
from tilewright.ir.rounding import ceil_div

WINDOWED = frozenset({"AveragePool", "Conv", "ConvInteger", "MaxPool", "QAveragePool", "QConv"})
_NAMES = """
Abs Acos Acosh Add And ArgMax ArgMin Asin Asinh Atan Atanh AveragePool BatchNormalization BitShift BitwiseAnd
BitwiseOr BitwiseXor Cast Ceil Clip Concat Conv ConvInteger Cos Cosh DequantizeLinear Div Elu Equal Erf Exp Floor Gelu
GeluTanh Gemm Greater GreaterOrEqual HardSigmoid HardSwish LayerNormalization LeakyRelu Less LessOrEqual Log LogSoftmax
MatMul MatMulInteger Max MaxPool Min Mish Mod Mul Neg Not Or Pad Pow QAdd QAveragePool QConv QGemm QLookup QMatMul QMul
QReduceMean QSoftmax QuantizeLinear RMSNormalization Reciprocal ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum
Reshape Round Selu Sigmoid Sign Sin Sinh Slice Softmax Softplus Softsign Sqrt Sub Swish Tan Tanh Transpose Where Xor
"""
SAME_EVERYWHERE = frozenset(_NAMES.split())


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeAxis:
    """Where a value moves on. Of two calls, `lag` calls apart, new[i] == old[i + shift] for all i of `reused`.

    `stride` elements of the input's axis are one element here. [low, high) depend on no padding and no end.
    """

    axis: int
    length: int
    stride: int
    shift: int
    low: int
    high: int
    lag: int = 1

    @property
    def reused(self) -> tuple[int, int]:
        """The elements that the call `lag` calls before has; empty where the first is not before the last."""
        return self.low, max(self.low, self.high - self.shift)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Element i of a node's output reads `step*i + first` to `step*i + last` of an input, as far as these are there."""

    step: int
    first: int
    last: int

    def range(self, low: int, high: int) -> tuple[int, int]:
        """What the elements [low, high) read, positions of the padding included."""
        return self.step * low + self.first, self.step * (high - 1) + self.last + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Reuse:
    """Values with a time axis, and how the nodes that make them read inputs that have one, by number of the input.

    All other nodes compute all of their outputs anew.
    """

    axes: Mapping[str, TimeAxis]
    readings: Mapping[str, Mapping[int, Reading]]

    @property
    def hop_unit(self) -> int:
        """With multiples of this as its hop every value moves on by whole elements in every call."""
        return math.lcm(*(axis.stride for axis in self.axes.values() if axis.length > 1))

    @property
    def phases(self) -> int:
        """After how many calls every value has moved on by whole elements."""
        return math.lcm(*(axis.lag for axis in self.axes.values() if axis.length > 1))


def analyse(
    graph: Graph, operators: Mapping[str, Operator], sliding: str, axis: int, hop: int, *, padded: bool = True
) -> Reuse:
    """The reuse of every value when `sliding` moves on by `hop` along `axis`.

    `padded` False: as if padding and the window's ends reached nothing, which is what a network of the same layers
    without padding along the axis would have.
    """
    length = graph.tensors[sliding].shape[axis]
    axes = {sliding: TimeAxis(axis=axis, length=length, stride=1, shift=hop, low=0, high=length)}
    readings: dict[str, Mapping[int, Reading]] = {}
    fixed = {"", *graph.constants}
    for site in graph.sites():
        if fixed.issuperset(site.node.inputs):
            fixed.update(site.node.outputs)
        moved = {at: axes[name] for at, name in enumerate(site.node.inputs) if name in axes}
        settled = fixed.issuperset(name for name in site.node.inputs if name not in axes)
        result = _moves(site, operators[site.node.op], moved) if moved and settled else None
        if result is None:
            continue
        place, reads = result
        made = _made(site.output.shape[place], place, moved, reads, hop)
        if made is not None:
            axes[site.output.name] = made if padded or made.length == 1 else _unpadded(made)
            readings[site.node.name] = reads
    return Reuse(axes=axes, readings=readings)


def _unpadded(axis: TimeAxis) -> TimeAxis:
    return replace(axis, low=0, high=axis.length)


def _made(
    length: int, place: int, moved: Mapping[int, TimeAxis], reads: Mapping[int, Reading], hop: int
) -> TimeAxis | None:
    """The time axis of an output, by the theorem; None where its inputs move on at different speeds."""
    strides = {moved[at].stride * reading.step for at, reading in reads.items()}
    if len(strides) > 1:
        return None
    (stride,) = strides
    low = max(0, *(ceil_div(moved[at].low - reading.first, reading.step) for at, reading in reads.items()))
    high = min(length, *((moved[at].high - 1 - reading.last) // reading.step + 1 for at, reading in reads.items()))
    common = stride if length == 1 else math.gcd(hop, stride)
    return TimeAxis(
        axis=place,
        length=length,
        stride=stride,
        shift=1 if length == 1 else hop // common,
        low=min(low, length),
        high=max(low, high),
        lag=stride // common,
    )


def _moves(site: Site, operator: Operator, moved: Mapping[int, TimeAxis]) -> tuple[int, Mapping[int, Reading]] | None:
    """The axis of the output that moves on, and how it reads the inputs that do; None where the map does not say so."""
    access = operator.access(site)
    if operator.name not in SAME_EVERYWHERE or not isinstance(access, MapAccess) or len(site.outputs) != 1:
        return None
    names, (output,) = input_names(operator, site), access.outputs
    places, reads = set[tuple[int, str]](), dict[int, Reading]()
    for at, axis in moved.items():
        index = access.axes[names[at]][axis.axis].index
        place = _place(access, output, index)
        if index is None or place is None or not _only_there(access, names[at], axis.axis, place[1]):
            return None
        places.add(place)
        reads[at] = _reading(access, index, place[1])
    if len(places) != 1:
        return None
    ((place_axis, loop),) = places
    still = [name for at, name in enumerate(names) if at not in moved and name in access.axes]
    if any(mentions(axis.index, loop) for name in still for axis in access.axes[name]):
        return None
    return (place_axis, reads) if _can_be_cut(site, place_axis, reads) else None


def _place(access: MapAccess, output: str, index: Index | None) -> tuple[int, str] | None:
    """The axis of the output whose loop alone moves this index, and that loop."""
    if index is None or any(term.inner is not None for term in index.terms):
        return None
    loops = [bare_loop(axis) for axis in access.axes[output]]
    moving = [term for term in index.terms if any(mentions(axis.index, term.loop) for axis in access.axes[output])]
    if len(moving) != 1 or moving[0].coefficient < 1 or loops.count(moving[0].loop) != 1:
        return None
    others = [axis for axis in access.axes[output] if bare_loop(axis) != moving[0].loop]
    if any(mentions(axis.index, moving[0].loop) for axis in others):
        return None
    return loops.index(moving[0].loop), moving[0].loop


def _only_there(access: MapAccess, operand: str, place: int, loop: str) -> bool:
    """Whether no other axis of the operand is indexed by the loop, and its trips may be separated."""
    kind = next(axis_loop.kind for axis_loop in access.loops if axis_loop.name == loop)
    axes = access.axes[operand]
    return kind == "parallel" and not any(mentions(axis.index, loop) for at, axis in enumerate(axes) if at != place)


def _reading(access: MapAccess, index: Index, loop: str) -> Reading:
    trips = {axis_loop.name: (0, axis_loop.extent) for axis_loop in access.loops}
    step = next(term.coefficient for term in index.terms if term.loop == loop)
    first, last = index.range({**trips, loop: (0, 1)})
    return Reading(step=step, first=first, last=last)


def _can_be_cut(site: Site, place: int, reads: Mapping[int, Reading]) -> bool:
    """Whether the node can be made for a part of its output: see `clones`."""
    node = site.node
    if node.op in WINDOWED:
        (reading,) = reads.values()
        last = reading.range(0, site.output.shape[place])[1]
        reach = reading.last - reading.first
        inside = reading.last >= 0 and last - reach - 1 < site.input(0).shape[place]
        return place >= 2 and not node.integer("ceil_mode") and inside
    return not (_joins(node, place, len(site.output.shape)) or _fills_otherwise(node))


def _joins(node: Node, place: int, rank: int) -> bool:
    return node.op == "Concat" and node.integer("axis") % rank == place


def _fills_otherwise(node: Node) -> bool:
    return node.op == "Pad" and node.attributes.get("mode", "constant") != "constant"
