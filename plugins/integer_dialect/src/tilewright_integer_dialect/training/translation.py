"""Knows which float models need a translation, and how they become ONNX: nodes that ONNX does not have as nodes that it
has, under the newest of the operator sets that the file names. Does not know single operators.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from tilewright.api import unsupported_error
from tilewright.api.graph import DType
from tilewright.api.importer import ImportedModel, Limits
from tilewright_integer_dialect import recognition
from tilewright_integer_dialect.file_nodes import FileNode, OddNode, file_nodes
from tilewright_integer_dialect.float_nodes import FloatNodes
from tilewright_integer_dialect.training import convolution_gradients, gradients, older_forms
from tilewright_integer_dialect.writing import declared_shapes

Rule = Callable[[FileNode, FloatNodes], None]

_OWN: Mapping[str, Rule] = MappingProxyType(
    {
        "ConvGrad": convolution_gradients.conv_grad,
        "GeluGrad": gradients.gelu_grad,
        "InPlaceAccumulator": gradients.accumulator,
        "LayerNormalizationGrad": gradients.layer_norm_grad,
        "RMSNorm": older_forms.rms_norm,
        "ReluGrad": gradients.relu_grad,
        "SGD": gradients.sgd,
        "SoftmaxCrossEntropyLossGrad": gradients.cross_entropy_grad,
        "SoftmaxGrad": gradients.softmax_grad,
        "SoftmaxGrad_13": gradients.softmax_grad,
    }
)
_RULES: Mapping[str, Rule] = MappingProxyType(
    {
        **_OWN,
        "Div": older_forms.left_over,
        "Gemm": older_forms.gemm,
        "HardSwish": older_forms.left_over,
        "ReduceMean": older_forms.with_axes,
        "ReduceSum": older_forms.with_axes,
        "SoftmaxCrossEntropyLoss": gradients.cross_entropy,
        "Squeeze": older_forms.with_axes,
        "Unsqueeze": older_forms.with_axes,
    }
)
_OPSET = 20  # has Gelu, and takes axes as inputs


def speaks(model: Any, types: Mapping[str, DType]) -> bool:
    """Whether there is a node of this dialect, in a file that is none of whole numbers."""
    nodes = model.graph.node
    odd = any(node.op_type in _OWN or _odd_loss(node) or _left_over(node) for node in nodes)
    return (odd or _batched_gemm(model)) and not recognition.speaks(model, types)


def _odd_loss(node: Any) -> bool:
    return node.op_type == "SoftmaxCrossEntropyLoss" and len(node.output) == 1 and "log_prob" in node.output[0]


def _left_over(node: Any) -> bool:
    names = {attribute.name for attribute in node.attribute}
    return node.op_type in ("Div", "HardSwish") and not names.isdisjoint(older_forms.LEFT_OVER)


def _batched_gemm(model: Any) -> bool:
    if not any(node.op_type == "Gemm" for node in model.graph.node):
        return False
    shapes = declared_shapes(model.graph)
    operands = (name for node in model.graph.node if node.op_type == "Gemm" for name in node.input[:2])
    return any(len(shapes.get(name, (0, 0))) != 2 for name in operands)


def translate(model: Any, types: Mapping[str, DType], limits: Limits) -> ImportedModel:
    """See `Dialect.translate`. TilewrightError TW2101 (exit 4) with every node that cannot be taken."""
    from onnx import ModelProto, helper

    made = ModelProto()
    made.CopyFrom(model)
    nodes = FloatNodes(model.graph, declared_shapes(model.graph))
    odd = []
    for node in file_nodes(model.graph.node):
        try:
            _RULES.get(node.op, older_forms.as_it_is)(node, nodes)
        except OddNode as reason:
            odd.append(f"{node.label}: {reason}")
    if odd:
        raise unsupported_error(
            "TW2101",
            f"{len(odd)} node{'s' if len(odd) > 1 else ''} of this network cannot be taken",
            details=tuple(odd),
            fix=("change these layers before the export", "or bring the operators with a plugin"),
        )
    del made.graph.node[:]
    made.graph.node.extend(nodes.nodes)
    made.graph.initializer.extend(nodes.initializers)
    versions = {entry.domain: entry.version for entry in model.opset_import if entry.domain not in ("", "ai.onnx")}
    own = max((entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")), default=_OPSET)
    del made.opset_import[:]
    made.opset_import.append(helper.make_opsetid("", max(own, _OPSET)))
    made.opset_import.extend(helper.make_opsetid(domain, version) for domain, version in versions.items())
    return ImportedModel(model=made)
