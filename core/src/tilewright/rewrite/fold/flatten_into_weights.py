"""Knows the pass that lets a fully connected layer read a channels-last value without a copy: it permutes the weights.
Does not know which layout is chosen; the Reshape of a row-major value that this leaves costs nothing either. Bit-equal
for integers; float sums are taken in another order, inside the error model.

[N, C, H, W], Reshape, Gemm becomes Transpose to [N, H, W, C], Reshape, Gemm with the rows of its weight permuted.
Where a value comes from a convolution or a pool it is stored channels-last, and that Transpose moves no byte.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from tilewright.ir.graphs.graph import Graph, Node
from tilewright.ir.graphs.operator import GraphPass, PassContext, PassResult
from tilewright.rewrite.edit import Draft, GraphView, origins

_IMAGE = ("AveragePool", "Conv", "MaxPool", "QAveragePool", "QConv")
_KEEP_LAYOUT = ("Add", "Clip", "Mul", "QAdd", "QLookup", "QMul", "Sub")
_PRODUCTS = ("Gemm", "QGemm")


def _apply(graph: Graph, context: PassContext) -> PassResult:
    draft = Draft(graph=graph)
    view = GraphView.of(graph)
    for reshape in graph.nodes:
        if reshape.op == "Reshape" and _flattens_image(view, reshape):
            readers = view.consumers[reshape.outputs[0]]
            if all(_is_product_of(view, reader, reshape.outputs[0]) for reader in readers):
                _permute(draft, reshape, readers)
    return PassResult(graph=draft.finish())


def _flattens_image(view: GraphView, reshape: Node) -> bool:
    """[N, C, spatial...] to [N, everything], where the order of C and the spatial axes matters."""
    before, after = (view.graph.tensors[name].shape for name in (reshape.inputs[0], reshape.outputs[0]))
    if len(before) < 3 or len(after) != 2 or before[0] != after[0] or reshape.outputs[0] in view.graph.outputs:
        return False
    return before[1] > 1 and math.prod(before[2:]) > 1 and _is_image(view, reshape.inputs[0])


def _is_image(view: GraphView, value: str) -> bool:
    """Whether `value` is of a convolution or pool, or is handed over channels last, elementwise operators aside."""
    node = view.producer.get(value)
    while node is not None and node.op in _KEEP_LAYOUT:
        node = view.producer.get(node.inputs[0])
    if node is None or node.op != "Transpose":
        return node is not None and node.op in _IMAGE
    rank = len(view.graph.tensors[value].shape)
    return node.integers("perm", ()) == (0, rank - 1, *range(1, rank - 1)) and node.inputs[0] in view.graph.inputs


def _is_product_of(view: GraphView, node: Node, value: str) -> bool:
    if node.op not in _PRODUCTS or node.integer("transA") or node.inputs[0] != value:
        return False
    return node.inputs.count(value) == 1 and node.inputs[1] in view.graph.constants


def _permute(draft: Draft, reshape: Node, products: list[Node]) -> None:
    source = draft.graph.tensors[reshape.inputs[0]]
    order = (0, *range(2, len(source.shape)), 1)
    last = draft.value(source.dtype, tuple(source.shape[axis] for axis in order), f"{source.name}_channels_last")
    transpose = Node(
        name=draft.node_name(f"{reshape.name}_channels_last"),
        op="Transpose",
        inputs=(source.name,),
        outputs=(last,),
        attributes={"perm": order},
        origin=origins(reshape),
    )
    draft.replace(reshape, transpose, replace(reshape, inputs=(last, *reshape.inputs[1:])))
    rows = np.arange(math.prod(source.shape[1:])).reshape(source.shape[1:])
    moved = np.moveaxis(rows, 0, -1).reshape(-1)  # entry i: which row of the old weight the new row i is
    for product in products:
        weight = draft.graph.constants[product.inputs[1]].take(moved, axis=1 if product.integer("transB") else 0)
        name = draft.constant(weight, f"{product.inputs[1]}_channels_last")
        draft.replace(product, replace(product, inputs=(product.inputs[0], name, *product.inputs[2:])))


PASS = GraphPass(
    name="flatten-into-weights",
    summary="weights after a flattened image are permuted, so that a channels-last value is read without a copy",
    apply=_apply,
    roots=("Reshape",),
    after=("remove-dead-channels", "fold-zero-points"),
)
