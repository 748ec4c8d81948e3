"""Knows the pass that makes MatMul and the Add of a bias one Gemm.
Does not know how a Gemm is computed. The sum is the same; its rounding stays inside the float error model.
"""

from __future__ import annotations

from dataclasses import replace

from tilewright.ir.graphs.graph import Graph, Node
from tilewright.ir.graphs.graph_pass import GraphPass, PassContext, PassResult
from tilewright.rewrite.edit import Draft, origins
from tilewright.rewrite.view import GraphView


def _apply(graph: Graph, context: PassContext) -> PassResult:
    draft = Draft(graph=graph)
    view = GraphView.of(graph)
    for add in graph.nodes:
        if add.op != "Add" or add.attributes:
            continue
        for product, bias in (add.inputs, add.inputs[::-1]):
            matmul = view.producer.get(product)
            if matmul is not None and _fits(view, matmul, bias):
                _fuse(draft, matmul, add, bias)
                break
    return PassResult(graph=draft.finish())


def _fits(view: GraphView, matmul: Node, bias: str) -> bool:
    """A product with a matrix and a bias per column, both known at compile time, read by the Add alone."""
    if matmul.op != "MatMul" or matmul.attributes or not view.read_once(matmul.outputs[0]):
        return False
    a, b = (view.graph.tensors[name].shape for name in matmul.inputs)
    if len(a) < 2 or len(b) != 2:
        return False
    fits_columns = view.graph.tensors[bias].shape in ((b[1],), (1, b[1]))
    return fits_columns and view.compile_time(matmul.inputs[1]) and view.compile_time(bias)


def _fuse(draft: Draft, matmul: Node, add: Node, bias: str) -> None:
    gemm = replace(matmul, op="Gemm", inputs=(*matmul.inputs, bias), outputs=add.outputs, origin=origins(matmul, add))
    draft.replace(matmul)
    draft.replace(add, gemm)


PASS = GraphPass(
    name="fuse-matmul-add",
    summary="MatMul of a constant matrix, and Add of a bias, become Gemm",
    apply=_apply,
    after=("merge-duplicates",),
    before=("lower-quantised",),
)
