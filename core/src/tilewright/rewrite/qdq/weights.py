"""Knows how constant weights and biases of quantised Conv, Gemm and MatMul are brought to 8 and 32 bits, and the edits
and notes that a lowering adds. Does not know the operators.

A bias given as int32 at scale `f32(sx * sw)` and zero point 0 is taken as it is. Any other constant bias (another
scale, or float as PyTorch exports it) is rounded to the nearest int32 at that scale: an accumulator has no finer steps.
Rounding that moves a result by more than `LARGEST_MOVE` of an output step is refused; less is reported in a note.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from tilewright.errors import Diagnostic
from tilewright.ir.graphs.graph import Attribute, Graph, Node
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.shared.packed_weights import named_bits
from tilewright.rewrite.edit import Draft, GraphView
from tilewright.rewrite.qdq.affine import EIGHT_BITS
from tilewright.rewrite.qdq.island import dequantised

Array = npt.NDArray[np.generic]
Floats = npt.NDArray[np.float32]

_Number = TypeVar("_Number", np.int32, np.float64)
LARGEST_MOVE = 0.125  # of one output step
_WIDEST = 2.0**47  # of a bias beside products of 16 bits


@dataclass(frozen=True, slots=True, kw_only=True)
class Weight:
    """A constant weight as int8, whatever it was stored as, with its numbers and the node that dequantised it."""

    array: Array  # i8
    scale: Floats  # 1, or one per output channel
    zero_point: tuple[int, ...]  # 1, or one per output channel
    node: Node

    @property
    def attributes(self) -> Mapping[str, Attribute]:
        """What the integer operator is told: `weight_bits` of weights that the file stores in fewer than 8."""
        return named_bits(self.node.weight_bits)

    def constant(self, draft: Draft) -> str:
        """A constant that holds `array`: the model's own where it is int8 already, so that sharing stays."""
        source = self.node.inputs[0]
        if draft.graph.tensors[source].dtype is DType.I8:
            return source
        return draft.constant(self.array, f"{source}_int8")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bias:
    """A bias per output channel, the nodes it came from, and the largest rounding in output steps."""

    array: Array  # i32, or i64 where that is needed
    nodes: tuple[Node, ...]
    moved: float


def weight_of(view: GraphView, value: str, channel_axis: int) -> Weight | str:
    """The constant 8-bit weight that `value` was dequantised from, one scale or one per `channel_axis`; or why not."""
    stored = dequantised(view, value)
    if isinstance(stored, str):
        return f"the weight is not quantised: {stored}"
    array = view.graph.constants.get(stored.value)
    affine = stored.affine
    if array is None:
        return f"the weight {stored.value!r} is not constant"
    if affine.dtype not in EIGHT_BITS:
        return f"the weight {stored.value!r} is {affine.dtype.value}, not 8 bits"
    if affine.axis not in (None, channel_axis % array.ndim):
        return f"the weight {stored.value!r} has its scales along axis {affine.axis}, which is no output channel"
    bits = stored.node.weight_bits
    shift = 1 << (bits - 1) if affine.dtype is DType.U8 else 0
    zero_points = tuple(zero - shift for zero in affine.zero_point)
    return Weight(
        array=(array.astype(np.int16) - shift).astype(np.int8),
        scale=affine.scales(),
        zero_point=zero_points[:1] if len(set(zero_points)) == 1 else zero_points,
        node=stored.node,
    )


def bias_of(
    view: GraphView, value: str, product: Floats, ratio: tuple[float, ...], channels: int, *, wide: bool = False
) -> Bias | str:
    """The constant bias `value` (any shape that has `channels` or 1 elements) at scale `product`; or why not. It has 32
    bits, or where it is `wide` as many as it needs: what values of 16 bits are summed to is larger.
    """
    elements = view.graph.tensors[value].elements
    if elements not in (1, channels):
        return f"the bias {value!r} has {elements} elements for {channels} channels"
    stored = _real_bias(view, value, product)
    if isinstance(stored, str):
        return stored
    exact, real, nodes = stored
    if exact is not None:
        return Bias(array=_spread(exact, channels), nodes=nodes, moved=0.0)
    with np.errstate(all="ignore"):
        units = _spread(real, channels) / product.astype(np.float64).reshape(-1)
    most = float(np.max(np.abs(units), initial=0.0))
    if not most <= (_WIDEST if wide else DType.I32.limits[1]):
        return f"the bias {value!r} does not fit {48 if wide else 32} bits at the scale of the accumulator"
    rounded = np.rint(units)
    moved = float(np.max(np.abs(units - rounded) * np.array(ratio), initial=0.0))
    if moved > LARGEST_MOVE:
        return f"rounding the bias {value!r} to the accumulator would move results by {moved:.2g} of an output step"
    kind = np.int32 if most <= DType.I32.limits[1] else np.int64
    return Bias(array=rounded.astype(kind), nodes=nodes, moved=moved)


def _real_bias(
    view: GraphView, value: str, product: Floats
) -> tuple[npt.NDArray[np.int32] | None, npt.NDArray[np.float64], tuple[Node, ...]] | str:
    """Either the stored int32 at exactly `product`, or None and the real values; and the DequantizeLinear, if any."""
    graph: Graph = view.graph
    if value in graph.constants:
        return None, graph.constants[value].reshape(-1).astype(np.float64), ()
    stored = dequantised(view, value)
    if isinstance(stored, str):
        return f"the bias is not constant: {stored}"
    array = graph.constants.get(stored.value)
    if array is None:
        return f"the bias {stored.value!r} is not constant"
    flat, affine = array.reshape(-1), stored.affine
    centred = flat.astype(np.int64) - np.array(affine.zero_point, np.int64)
    scales = affine.scales()
    matches = scales.size in (1, flat.size) and product.size in (1, scales.size, flat.size)
    if matches and bool(np.all(scales == product)) and bool(np.all(np.abs(centred) <= DType.I32.limits[1])):
        return centred.astype(np.int32), np.zeros(0), (stored.node,)
    if scales.size not in (1, flat.size):
        return f"the bias {stored.value!r} has {scales.size} scales for {flat.size} elements"
    real = (centred * scales.astype(np.float64)).astype(np.float64)
    return None, real, (stored.node,)


def _spread(values: npt.NDArray[_Number], channels: int) -> npt.NDArray[_Number]:
    return np.ascontiguousarray(np.broadcast_to(values.reshape(-1), (channels,)))


@dataclass(slots=True, kw_only=True)
class Work:
    """The edits and the notes of one run of the pass, collected while it goes over the islands."""

    draft: Draft
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def bias(self, main: Node, name: str, bias: Bias) -> str:
        """A constant that holds `bias`; a note where it had to be rounded."""
        if bias.moved:
            self.diagnostics.append(
                Diagnostic(
                    code="TW3003",
                    severity="note",
                    message=f"the bias was rounded to int32; results move by at most {bias.moved:.1e} of a step",
                    where=main.name,
                )
            )
        return self.draft.constant(bias.array, f"{name}_int32")
