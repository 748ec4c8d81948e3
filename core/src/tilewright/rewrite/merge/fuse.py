"""Knows the passes that make two nodes one: a float operator clips its own result (`clip_low`, `clip_high`), and MatMul
with the Add of a bias is a Gemm. Does not know kernels: all portable ones clip, bit-equal; the rounding of the sum of a
Gemm stays inside the float error model.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tilewright.ir.graphs.graph import Attribute, Graph, Node
from tilewright.ir.graphs.operator import GraphPass, PassContext, PassResult
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.edit import Draft, GraphView, origins

FUSES_CLIP = ("Conv", "Gemm", "MatMul", "MatMulNBits", "Add", "Sub", "Mul", "Div", "AveragePool")
_MOVES = ("MaxPool", "Reshape", "Transpose")  # the limits of elements may be those of what they come from


def composed(node: Node, low: float, high: float) -> tuple[float, float]:
    """The limits of Clip `node` applied to values already limited to [low, high]: again one interval."""
    smallest, largest = node.number("min", -math.inf), node.number("max", math.inf)
    return min(max(low, smallest), largest), min(max(high, smallest), largest)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Way:
    """An operator that may take in Clips, those that it takes in, and its values: one group for each operator that
    moves them (`Draft.rename_way`).
    """

    main: Node
    clips: list[Node]
    values: list[list[str]]


def _fuse_activations(graph: Graph, context: PassContext) -> PassResult:
    draft, view = Draft(graph=graph), GraphView.of(graph)
    begun: list[_Way] = []
    ways: dict[str, _Way] = {}  # by the value at its end
    for node in graph.nodes:
        source, value = node.inputs[0] if node.inputs else "", node.outputs[0]
        way = ways.get(source) if source in ways and view.read_once(source) else None
        if way is not None and node.op == "Clip":
            way.clips.append(node)
            way.values[-1].append(value)
        elif way is not None and node.op in _MOVES and len(node.outputs) == 1:
            way.values.append([value])
        elif node.op in (*FUSES_CLIP, "Clip") and graph.tensors[value].dtype.computed_in is DType.F32:
            way = _Way(main=node, clips=[], values=[[value]])
            begun.append(way)
        else:
            continue
        ways[value] = way
    for way in begun:
        if way.clips:
            draft.replace(way.main, _with_limits(way.main, way.clips))
            draft.replacements.update((clip.name, ()) for clip in way.clips)
            draft.rename_way(way.values)
    return PassResult(graph=draft.finish())


def _with_limits(main: Node, clips: Sequence[Node]) -> Node:
    names = ("min", "max") if main.op == "Clip" else ("clip_low", "clip_high")
    low, high = main.number(names[0], -math.inf), main.number(names[1], math.inf)
    for clip in clips:
        low, high = composed(clip, low, high)
    limits: dict[str, Attribute] = {names[0]: low, names[1]: high}
    attributes = {**main.attributes, **limits}
    return replace(main, attributes=attributes, origin=origins(main, *clips))


FUSE_ACTIVATION = GraphPass(
    name="fuse-activation",
    summary="Relu and Clip become part of the float operator before them",
    apply=_fuse_activations,
    roots=("Clip",),
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
    roots=("MatMul",),
    after=("merge-duplicates",),
    before=("lower-quantised",),
)
