"""Knows products of floats with constants of 4 or 2 bits, which become MatMulNBits, whose weights stay packed. Does not
know how MatMulNBits computes, nor quantised activations: `qdq` has these.

A MatMul or Gemm reads a DequantizeLinear with scales for blocks along the reduction, per column, or one; a Transpose
may stand in between. Columns with one scale are one block.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tilewright.ir.graphs.graph import WEIGHT_BITS, Attribute, Graph, Node
from tilewright.ir.graphs.operator import GraphPass, PassContext, PassResult
from tilewright.ir.rounding import ceil_div
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.edit import Draft, GraphView, origins

Array = npt.NDArray[np.generic]
_MOVES = ("Reshape", "Transpose")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stored:
    """Weights as rows of output columns: [N, K] int8, [N, blocks] scales and zero points."""

    rows: Array
    scales: Array
    zeros: Array
    block_size: int
    bits: int
    nodes: tuple[Node, ...]


def _apply(graph: Graph, context: PassContext) -> PassResult:
    draft, view = Draft(graph=graph), GraphView.of(graph)
    for node in graph.nodes:
        if node.op in ("MatMul", "Gemm") and (stored := _weights(view, node)) is not None:
            draft.replace(node, _product(draft, node, stored))
    return PassResult(graph=draft.finish())


def _weights(view: GraphView, node: Node) -> _Stored | None:
    """The weights of a product that can stay packed, else None."""
    graph, gemm = view.graph, node.op == "Gemm"
    if gemm and (node.number("alpha", 1.0), node.number("beta", 1.0)) != (1.0, 1.0):
        return None
    bias = node.inputs[2] if len(node.inputs) > 2 else ""
    if graph.tensors[node.inputs[0]].dtype is not DType.F32 or not graph.tensors[node.inputs[0]].shape:
        return None
    columns = graph.tensors[node.outputs[0]].shape[-1:]
    if bias and (bias not in graph.constants or graph.tensors[bias].elements != columns[0]):
        return None
    return _rows_of(view, node.inputs[1], transposed=gemm and bool(node.integer("transB")), a=node.inputs[0])


def _rows_of(view: GraphView, name: str, *, transposed: bool, a: str) -> _Stored | None:
    """`transposed`: whether the value is [N, K], and not [K, N]."""
    graph, node = view.graph, view.producer.get(name)
    between: tuple[Node, ...] = ()
    if node is not None and node.op == "Transpose" and len(graph.tensors[name].shape) == 2:
        between, transposed = (node,), transposed ^ (node.integers("perm") == (1, 0))
        node = view.producer.get(node.inputs[0])
    if node is None or node.op != "DequantizeLinear" or node.inputs[0] not in graph.constants:
        return None
    stored = _blocks(graph, node, depth_axis=1 if transposed else 0)
    if stored is None or (not node.integer("block_size") and _is_quantised(view, a)):
        return None
    return _turned(stored, (*between, node), transposed=transposed)


def _turned(stored: _Stored, nodes: tuple[Node, ...], *, transposed: bool) -> _Stored:
    def turn(matrix: Array) -> Array:
        return np.ascontiguousarray(matrix if transposed else matrix.T)

    return _Stored(
        rows=turn(stored.rows), scales=turn(stored.scales), zeros=turn(stored.zeros),
        block_size=stored.block_size, bits=stored.bits, nodes=nodes,
    )  # fmt: skip


def _blocks(graph: Graph, node: Node, depth_axis: int) -> _Stored | None:
    """What a DequantizeLinear of a constant matrix reads, its own way round, or None where scales do not fit."""
    bits, array = node.weight_bits, graph.constants[node.inputs[0]]
    scales = graph.constants.get(node.inputs[1])
    zeros = graph.constants.get(node.inputs[2]) if len(node.inputs) > 2 and node.inputs[2] else np.zeros(1, array.dtype)
    if bits == 8 or array.ndim != 2 or scales is None or zeros is None:
        return None
    depth, size, axis = array.shape[depth_axis], node.integer("block_size"), node.integer("axis", 1) % 2
    if axis != depth_axis if size else (axis == depth_axis and scales.size > 1):
        return None
    shape = list(array.shape)
    shape[depth_axis] = ceil_div(depth, size) if size else 1
    shift = 1 << (bits - 1) if array.dtype == np.uint8 else 0
    spread = [np.broadcast_to(_matrix(parameter, axis), shape) for parameter in (scales, zeros)]
    centred = (array.astype(np.int16) - shift).astype(np.int8), (spread[1].astype(np.int16) - shift).astype(np.int8)
    return _Stored(
        rows=centred[0], scales=spread[0].astype(np.float32), zeros=centred[1],
        block_size=size or depth, bits=bits, nodes=(),
    )  # fmt: skip


def _matrix(parameter: Array, axis: int) -> Array:
    """A parameter as a matrix that broadcasts."""
    if parameter.ndim == 2 or parameter.size == 1:
        return parameter if parameter.ndim == 2 else parameter.reshape(1, 1)
    return parameter.reshape((-1, 1) if axis == 0 else (1, -1))


def _is_quantised(view: GraphView, value: str) -> bool:
    """Whether an activation was dequantised: then the product may be one of integers."""
    node = view.producer.get(value)
    while node is not None and node.op in _MOVES:
        node = view.producer.get(node.inputs[0])
    return node is not None and node.op == "DequantizeLinear"


def _product(draft: Draft, node: Node, stored: _Stored) -> Node:
    source = stored.nodes[-1].inputs[0]
    inputs = [
        node.inputs[0],
        draft.constant(stored.rows, f"{source}_rows"),
        draft.constant(stored.scales, f"{source}_scales"),
        draft.constant(stored.zeros, f"{source}_zeros") if stored.zeros.any() else "",
    ]
    if len(node.inputs) > 2 and node.inputs[2]:
        bias = draft.graph.constants[node.inputs[2]]
        inputs.append(draft.constant(bias.reshape(-1), f"{node.inputs[2]}_row"))
    kept = {name: value for name, value in node.attributes.items() if name in ("clip_low", "clip_high")}
    attributes: dict[str, Attribute] = {WEIGHT_BITS: stored.bits, "block_size": stored.block_size, **kept}
    while not inputs[-1]:
        inputs.pop()
    return Node(
        name=node.name, op="MatMulNBits", inputs=tuple(inputs), outputs=node.outputs, attributes=attributes,
        origin=origins(node, *stored.nodes),
    )  # fmt: skip


PASS = GraphPass(
    name="packed-products",
    summary="products of floats with constants of 4 or 2 bits keep these packed",
    apply=_apply,
    roots=("DequantizeLinear",),
    after=("fuse-matmul-add",),
    before=("lower-quantised", "move-quantisation"),
)
