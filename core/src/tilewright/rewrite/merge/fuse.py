"""Knows the passes that make two nodes one: a float operator clips its own result (`clip_low`, `clip_high`), and MatMul
with the Add of a bias is a Gemm. Does not know kernels: all portable ones clip, bit-equal; the rounding of the sum of a
Gemm stays inside the float error model.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from tilewright.ir.graphs.graph import Attribute, Graph, Node
from tilewright.ir.graphs.operator import GraphPass, PassContext, PassResult
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.edit import Draft, GraphView, origins

FUSES_CLIP = ("Conv", "Gemm", "MatMul", "Add", "Sub", "Mul", "Div", "AveragePool")


def composed(node: Node, low: float, high: float) -> tuple[float, float]:
    """The limits of Clip `node` applied to values already limited to [low, high]: again one interval."""
    smallest, largest = node.number("min", -math.inf), node.number("max", math.inf)
    return min(max(low, smallest), largest), min(max(high, smallest), largest)


def _fuse_activations(graph: Graph, context: PassContext) -> PassResult:
    draft = Draft(graph=graph)
    view = GraphView.of(graph)
    chains: dict[str, list[Node]] = {}  # value -> the operator that will write it, then the Clips that it takes in
    for clip in graph.nodes:
        source = clip.inputs[0] if clip.op == "Clip" else ""
        main = view.producer.get(source)
        if main is None or main.op not in (*FUSES_CLIP, "Clip") or not view.read_once(source):
            continue
        if graph.tensors[main.outputs[0]].dtype.computed_in is not DType.F32:
            continue
        chain = chains.pop(source, [main])
        chain.append(clip)
        chains[clip.outputs[0]] = chain
    for main, *clips in chains.values():
        for clip in clips:
            draft.replace(clip)
        draft.replace(main, _with_limits(main, clips))
    return PassResult(graph=draft.finish())


def _with_limits(main: Node, clips: Sequence[Node]) -> Node:
    names = ("min", "max") if main.op == "Clip" else ("clip_low", "clip_high")
    low, high = main.number(names[0], -math.inf), main.number(names[1], math.inf)
    for clip in clips:
        low, high = composed(clip, low, high)
    limits: dict[str, Attribute] = {names[0]: low, names[1]: high}
    attributes = {**main.attributes, **limits}
    return replace(main, outputs=clips[-1].outputs, attributes=attributes, origin=origins(main, *clips))


FUSE_ACTIVATION = GraphPass(
    name="fuse-activation",
    summary="Relu and Clip become part of the float operator before them",
    apply=_fuse_activations,
    after=("fold-dequantised",),
)


def _fuse_sums(graph: Graph, context: PassContext) -> PassResult:
    draft = Draft(graph=graph)
    view = GraphView.of(graph)
    for add in graph.nodes:
        if add.op != "Add" or add.attributes:
            continue
        for product, bias in (add.inputs, add.inputs[::-1]):
            matmul = view.producer.get(product)
            if matmul is not None and _fits_gemm(view, matmul, bias):
                draft.replace(matmul)
                fused = replace(matmul, op="Gemm", inputs=(*matmul.inputs, bias), outputs=add.outputs)
                draft.replace(add, replace(fused, origin=origins(matmul, add)))
                break
    return PassResult(graph=draft.finish())


def _fits_gemm(view: GraphView, matmul: Node, bias: str) -> bool:
    """A product with a matrix and a bias per column, both known at compile time, read by the Add alone."""
    if matmul.op != "MatMul" or matmul.attributes or not view.read_once(matmul.outputs[0]):
        return False
    a, b = (view.graph.tensors[name].shape for name in matmul.inputs)
    if len(a) < 2 or len(b) != 2:
        return False
    fits_columns = view.graph.tensors[bias].shape in ((b[1],), (1, b[1]))
    return fits_columns and view.compile_time(matmul.inputs[1]) and view.compile_time(bias)


FUSE_MATMUL_ADD = GraphPass(
    name="fuse-matmul-add",
    summary="MatMul of a constant matrix, and Add of a bias, become Gemm",
    apply=_fuse_sums,
    after=("merge-duplicates",),
    before=("lower-quantised",),
)
