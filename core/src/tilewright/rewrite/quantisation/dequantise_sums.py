"""Knows the pass that makes one step of a Cast of integer sums and the product with their scale: DequantizeLinear,
which computes the same, bit for bit. Does not know what the sums are: those of MatMulInteger and ConvInteger behind
dynamic quantisation.
"""

from __future__ import annotations

from tilewright.ir.graphs.graph import Attribute, Graph, Node
from tilewright.ir.graphs.operator import GraphPass, PassContext, PassResult
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.edit import Draft, GraphView, origins


def _apply(graph: Graph, context: PassContext) -> PassResult:
    view, draft = GraphView.of(graph), Draft(graph=graph)
    for node in graph.nodes:
        if node.op == "Mul" and not node.attributes:
            _join(view, draft, node)
    return PassResult(graph=draft.finish())


def _join(view: GraphView, draft: Draft, product: Node) -> None:
    tensors = view.graph.tensors
    for value, scale in (product.inputs, product.inputs[::-1]):
        cast = view.producer.get(value)
        if cast is None or cast.op != "Cast" or not view.read_once(value) or tensors[scale].dtype is not DType.F32:
            continue
        sums, axis = tensors[cast.inputs[0]], _axis(tensors[value].shape, tensors[scale].shape)
        if sums.dtype is not DType.I32 or axis is None:
            continue
        attributes: dict[str, Attribute] = {"axis": axis} if tensors[scale].elements > 1 else {}
        joined = Node(
            name=product.name,
            op="DequantizeLinear",
            inputs=(cast.inputs[0], scale),
            outputs=product.outputs,
            attributes=attributes,
            origin=origins(cast, product),
        )
        draft.replace(cast)
        draft.replace(product, joined)
        return


def _axis(shape: tuple[int, ...], scale: tuple[int, ...]) -> int | None:
    """The axis that a scale of at most one axis runs along, the last one; None where it broadcasts otherwise."""
    if len(scale) > min(len(shape), 1):
        return None
    if not scale or scale == (1,):
        return 0
    return len(shape) - 1 if scale == shape[-1:] else None


PASS = GraphPass(
    name="dequantise-sums",
    summary="a Cast of integer sums and the product with their scale become DequantizeLinear",
    apply=_apply,
    roots=("Cast",),
    after=("recognise-decomposed-quantisation", "merge-duplicates"),
    before=("fold-channel-constants", "move-quantisation"),
)
