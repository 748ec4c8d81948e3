"""Knows operators that onnxruntime has beside ONNX's, as its optimiser and exporters for it write them: Gelu and its
kin, normalised sums, and the normalisations that ONNX took later. Does not know how those are computed.

Source: docs/ContribOperators.md of onnxruntime; there LayerNormalization and SimplifiedLayerNormalization are in the
domain of ONNX, from its first operator set on.
"""

from __future__ import annotations

import numpy as np

from tilewright.frontend.decompositions.runtime_imports import runtime_imports
from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode

_LAYER, _ROOT = 17, 23  # the operator sets with LayerNormalization and RMSNormalization
_GELU = 20
_QUICK = 1.702  # the usual slope of QuickGelu
_EPSILON = {"epsilon": "FLOAT"}
_ROWS = {"axis": "INT", "epsilon": "FLOAT", "stash_type": "INT"}


def _gelu(node: OnnxNode, graph: Conversion) -> None:
    """Of x, or of x + bias; FastGelu by a tanh."""
    value = node.inputs[0]
    if len(node.inputs) > 1 and node.inputs[1]:
        value = graph.emit(node, "Add", node.inputs[:2], hint="biased")
    form = {"approximate": "tanh"} if node.op_type == "FastGelu" else {}
    graph.apply(node, "Gelu", _GELU, (value,), node.outputs, form)


def _quick_gelu(node: OnnxNode, graph: Conversion) -> None:
    """x * sigmoid(alpha * x)."""
    slope = np.asarray(node.number("alpha", _QUICK), graph.tensor(node.inputs[0]).dtype.numpy)
    scaled = graph.emit(node, "Mul", (node.inputs[0], graph.add_constant(slope, "alpha")), hint="scaled")
    share = graph.emit(node, "Sigmoid", (scaled,), hint="share")
    graph.emit(node, "Mul", (node.inputs[0], share), node.outputs)


def _normalised_sum(node: OnnxNode, graph: Conversion) -> None:
    """Input + skip [+ bias], which is the fourth output, normalised row by row."""
    simple = node.op_type == "SkipSimplifiedLayerNormalization"
    inputs = [*node.inputs, "", "", ""]
    parameters, bias = (inputs[2:3], inputs[3]) if simple else (inputs[2:4], inputs[4])
    outputs = [*node.outputs, "", "", ""][:4]
    both = graph.emit(node, "Add", node.inputs[:2], () if bias else outputs[3:] if outputs[3] else (), hint="sum")
    if bias:
        both = graph.emit(node, "Add", (both, bias), outputs[3:] if outputs[3] else (), hint="biased")
    names, version = [both, *(name for name in parameters if name)], _ROOT if simple else _LAYER
    kind = "RMSNormalization" if simple else "LayerNormalization"
    written = outputs[:1] if simple else outputs[:3]
    while not written[-1]:
        written.pop()
    if simple and any(outputs[1:3]):
        raise graph.refuse(node, "its outputs mean and inverse deviation are not supported")
    graph.apply(node, kind, version, names, written, {"epsilon": node.number("epsilon", 1e-12)})


def _layer_normalization(node: OnnxNode, graph: Conversion) -> None:
    graph.apply(node, "LayerNormalization", _LAYER, node.inputs, node.outputs, node.attributes)


def _root_normalization(node: OnnxNode, graph: Conversion) -> None:
    if any(node.outputs[1:]):
        raise graph.refuse(node, "its output of inverse deviations is not supported")
    graph.apply(node, "RMSNormalization", _ROOT, node.inputs, node.outputs[:1], node.attributes)


IMPORTS = (
    Import(
        op_type="LayerNormalization",
        since=1,
        attributes=_ROWS,
        convert=_layer_normalization,
        min_inputs=2,
        max_inputs=3,
    ),
    Import(
        op_type="SimplifiedLayerNormalization",
        since=1,
        attributes=_ROWS,
        convert=_root_normalization,
        min_inputs=2,
        max_inputs=2,
    ),
    *runtime_imports(
        ("Gelu", {}, _gelu, 1, 1),
        ("FastGelu", {}, _gelu, 1, 2),
        ("BiasGelu", {}, _gelu, 2, 2),
        ("QuickGelu", {"alpha": "FLOAT"}, _quick_gelu, 1, 1),
        ("SkipLayerNormalization", _EPSILON, _normalised_sum, 3, 5),
        ("SkipSimplifiedLayerNormalization", _EPSILON, _normalised_sum, 3, 4),
    ),
)
