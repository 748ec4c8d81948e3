"""Knows the pass that lets a float operator clip its own result: Clip becomes `clip_low`, `clip_high`.
Does not know which kernels can do that; all portable ones do. Results are bit-equal.
"""

from __future__ import annotations

import math
from dataclasses import replace

from tilewright.ir.graphs.graph import Attribute, Graph, Node
from tilewright.ir.graphs.graph_pass import GraphPass, PassContext, PassResult
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.edit import Draft, origins
from tilewright.rewrite.view import GraphView

FUSES_CLIP = ("Conv", "Gemm", "MatMul", "Add", "Sub", "Mul", "Div", "AveragePool")


def composed(node: Node, low: float, high: float) -> tuple[float, float]:
    """The limits of Clip `node` applied to values already limited to [low, high]: again one interval."""
    smallest, largest = node.number("min", -math.inf), node.number("max", math.inf)
    return min(max(low, smallest), largest), min(max(high, smallest), largest)


def _apply(graph: Graph, context: PassContext) -> PassResult:
    draft = Draft(graph=graph)
    view = GraphView.of(graph)
    latest: dict[str, Node] = {}  # value -> the node that writes it after the fusions so far
    for clip in graph.nodes:
        source = clip.inputs[0] if clip.inputs else ""
        main = latest.get(source) or view.producer.get(source)
        if main is None or clip.op != "Clip" or not _fusible(graph, main) or not view.read_once(source):
            continue
        fused = _with_limits(main, clip)
        latest[clip.outputs[0]] = fused
        draft.replace(clip)
        draft.replace(main, fused)
    return PassResult(graph=draft.finish())


def _fusible(graph: Graph, main: Node) -> bool:
    return main.op in (*FUSES_CLIP, "Clip") and graph.tensors[main.outputs[0]].dtype.computed_in is DType.F32


def _with_limits(main: Node, clip: Node) -> Node:
    names = ("min", "max") if main.op == "Clip" else ("clip_low", "clip_high")
    low, high = composed(clip, main.number(names[0], -math.inf), main.number(names[1], math.inf))
    limits: dict[str, Attribute] = {names[0]: low, names[1]: high}
    return replace(main, outputs=clip.outputs, attributes={**main.attributes, **limits}, origin=origins(main, clip))


PASS = GraphPass(
    name="fuse-activation",
    summary="Relu and Clip become part of the float operator before them",
    apply=_apply,
    after=("fold-dequantised",),
)
