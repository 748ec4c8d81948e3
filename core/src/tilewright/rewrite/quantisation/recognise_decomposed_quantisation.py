"""Knows quantisation as PyTorch decomposes it, with casts: its two halves become QuantizeLinear and DequantizeLinear.
Does not know how these two are lowered, nor chains that stay in float (`recognise_fake_quantisation`).

    x -> Mul(1/s) or Div(s) -> Round -> [Add(z)] -> Clip(limits of the type) -> Cast(8 bits)        quantises
    q -> Cast(float) -> [Sub(z)] -> Mul(s)                                                          dequantises

A DequantizeLinear keeps every bit, and so does a QuantizeLinear of a quotient, but for NaN. A product with 1/s may lie
on the other side of a tie than a quotient by s: there, and nowhere else, a result is one step off.
Source: torch.ao.quantization, pt2e.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from tilewright.ir.graphs.graph import Graph, Node, Tensor
from tilewright.ir.graphs.operator import GraphPass, PassContext, PassResult
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.edit import Draft, GraphView, origins
from tilewright.rewrite.qdq.affine import EIGHT_BITS
from tilewright.rewrite.quantisation.recognise_fake_quantisation import scale_axis

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]


def _apply(graph: Graph, context: PassContext) -> PassResult:
    view, draft = GraphView.of(graph), Draft(graph=graph)
    for node in graph.nodes:
        if node.op == "Cast" and graph.tensors[node.outputs[0]].dtype in EIGHT_BITS:
            _quantising(view, draft, node)
        elif node.op == "Mul" and not node.attributes:
            _dequantising(view, draft, node)
    return PassResult(graph=draft.finish())


def _quantising(view: GraphView, draft: Draft, cast: Node) -> None:
    """Put a QuantizeLinear where `cast` is, when the nodes before it quantise."""
    dtype = view.graph.tensors[cast.outputs[0]].dtype
    clip = _producer(view, cast.inputs[0], "Clip")
    if clip is None or (clip.number("min", -np.inf), clip.number("max", np.inf)) != dtype.limits:
        return
    shift = _producer(view, clip.inputs[0], "Add")
    value, zero = _shift(view, shift) if shift else (clip.inputs[0], 0)
    rounding = view.producer.get(value)
    scaled = view.producer.get(rounding.inputs[0]) if rounding is not None and rounding.op == "Round" else None
    scaled_value = _scaled(view, scaled) if scaled else None
    if rounding is None or scaled is None or scaled_value is None or zero is None:
        return
    source, scale = scaled_value
    nodes = tuple(node for node in (scaled, rounding, shift, clip, cast) if node is not None)
    _put(view, draft, cast, nodes, "QuantizeLinear", source, (_as_dequantised(view, cast, scale), zero, dtype))


def _dequantising(view: GraphView, draft: Draft, last: Node) -> None:
    """Put a DequantizeLinear where `last` is, when it multiplies 8-bit numbers, cast to float, with a constant."""
    for product, factor in (last.inputs, last.inputs[::-1]):
        scale = view.graph.constants.get(factor)
        if scale is None or not _usable(scale):
            continue
        shift = _producer(view, product, "Sub")
        value, zero = _shift(view, shift) if shift else (product, 0)
        cast = _producer(view, value, "Cast")
        stored = cast.inputs[0] if cast else _small_constant(view, draft, value, zero, f"{last.name}/stored")
        dtype = _tensor(view, draft, stored).dtype if stored else DType.F32
        if dtype in EIGHT_BITS and zero is not None:
            nodes = tuple(node for node in (cast, shift, last) if node is not None)
            _put(view, draft, last, nodes, "DequantizeLinear", stored, (scale, zero, dtype))
            return


def _put(
    view: GraphView,
    draft: Draft,
    last: Node,
    nodes: tuple[Node, ...],
    op: str,
    source: str,
    numbers: tuple[Array, int, DType],
) -> None:
    scale, zero, dtype = numbers
    axis = scale_axis(scale.shape, _tensor(view, draft, source).shape)
    low, high = dtype.limits
    if axis is None or not low <= zero <= high:
        return
    scales = scale.reshape(() if scale.size == 1 else (-1,))
    zeros = np.full(scales.shape, zero, dtype.numpy)
    inputs = (source, draft.constant(scales, f"{last.name}/scale"), draft.constant(zeros, f"{last.name}/zero_point"))
    to = {"to": dtype.value} if op == "QuantizeLinear" else {}
    made = Node(name=last.name, op=op, inputs=inputs, outputs=last.outputs, attributes={"axis": axis, **to})
    draft.replace(last, replace(made, origin=origins(*nodes)))


def _tensor(view: GraphView, draft: Draft, name: str) -> Tensor:
    return draft.tensors[name] if name in draft.tensors else view.graph.tensors[name]


def _producer(view: GraphView, value: str, op: str) -> Node | None:
    node = view.producer.get(value)
    return node if node is not None and node.op == op else None


def _shift(view: GraphView, node: Node) -> tuple[str, int | None]:
    """The value that a zero point is added to or taken from, and the zero point; None where it is no whole number."""
    orders = (node.inputs,) if node.op == "Sub" else (node.inputs, node.inputs[::-1])
    for value, name in orders:
        array = view.graph.constants.get(name)
        if array is not None and array.size == 1 and float(array.reshape(-1)[0]).is_integer():
            return value, int(array.reshape(-1)[0])
    return node.inputs[0], None


def _scaled(view: GraphView, node: Node) -> tuple[str, Array] | None:
    """The value that is divided by a constant scale, or multiplied by its inverse; and the scale."""
    if node.attributes or node.op not in ("Mul", "Div"):
        return None
    for value, name in (node.inputs,) if node.op == "Div" else (node.inputs, node.inputs[::-1]):
        array = view.graph.constants.get(name)
        if array is not None and _usable(array):
            return value, array if node.op == "Div" else np.asarray(np.reciprocal(array))
    return None


def _as_dequantised(view: GraphView, cast: Node, scale: Array) -> Array:
    """The scale that dequantises the result again, where it equals `scale` but for the rounding of the inverse."""
    readers = view.consumers[cast.outputs[0]]
    for op in ("Cast", "Sub"):
        behind = (view.consumers[reader.outputs[0]] if reader.op == op else [reader] for reader in readers)
        readers = list(chain.from_iterable(behind))
    for name in (name for reader in readers if reader.op == "Mul" for name in reader.inputs):
        other = view.graph.constants.get(name)
        if other is None or other.shape != scale.shape:
            continue
        if np.allclose(np.asarray(other, np.float64), np.asarray(scale, np.float64), 1e-6, 0):
            return other
    return scale


def _usable(scale: Array) -> bool:
    """Whether every number can be a scale."""
    return bool(scale.dtype == np.float32 and np.all(np.isfinite(scale)) and np.all(np.asarray(scale, np.float32) > 0))


def _small_constant(view: GraphView, draft: Draft, name: str, zero: int | None, hint: str) -> str:
    """A constant of 8 bits with the same numbers as the float constant `name`, which a Cast has been folded into."""
    array = view.graph.constants.get(name)
    if array is None or array.dtype != np.float32 or array.size < 2 or zero is None:
        return ""
    numbers = np.asarray(array, np.float64)
    for dtype in EIGHT_BITS:
        low, high = dtype.limits
        if low <= zero <= high and np.all((numbers >= low) & (numbers <= high) & (numbers == np.rint(numbers))):
            return draft.constant(array.astype(dtype.numpy), hint)
    return ""


PASS = GraphPass(
    name="recognise-decomposed-quantisation",
    summary="Mul, Round, Clip, Cast become QuantizeLinear, and Cast, Sub, Mul of 8 bits DequantizeLinear",
    apply=_apply,
    roots=("Cast", "Mul"),
    after=("recognise-fake-quantisation",),
    before=("fold-constants",),
)
