"""Knows operators that carry their own scales, written with others: each of QLinearConv, QGemm, ... is dequantise,
operate, quantise, and DynamicQuantizeLinear finds its scale in the values at hand.
Does not know integer arithmetic; the same rewrite that lowers graphs in QDQ form lowers these.

Source: ONNX QLinearConv-10, QLinearMatMul-10, DynamicQuantizeLinear-11, and com.microsoft operators of onnxruntime's
quantiser. ONNX's own body of DynamicQuantizeLinear divides 0 by 0 where all values are 0; there the scale is 1, as in
onnxruntime.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tilewright.frontend.decompositions.runtime_imports import runtime_imports
from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

_LARGEST = 255.0
_QDQ = 13  # operator set in which scales may be given for each channel
_MANY = 1 << 16
_WINDOW = {"auto_pad": "STRING", "kernel_shape": "INTS", "pads": "INTS", "strides": "INTS"}
_GEMM = {"alpha": "FLOAT", "transA": "INT", "transB": "INT"}
_AVERAGE = {**_WINDOW, "ceil_mode": "INT", "count_include_pad": "INT", "channels_last": "INT"}


def _dynamic_quantize(node: OnnxNode, graph: Conversion) -> None:
    """From the smallest to the largest value, and 0, become 0 to 255."""
    zero, largest, one = (
        graph.add_constant(np.asarray(number, np.float32), hint)
        for number, hint in ((0.0, "zero"), (_LARGEST, "largest"), (1.0, "one"))
    )
    low, high = (
        graph.emit(node, bound, (graph.apply(node, f"Reduce{bound}", 13, node.inputs, (), {"keepdims": 0}), zero))
        for bound in ("Min", "Max")
    )
    span = graph.emit(node, "Sub", (high, low), hint="span")
    step = graph.emit(node, "Div", (span, largest), hint="step")
    none = graph.emit(node, "Equal", (span, zero), hint="none")
    scale = graph.emit(node, "Where", (none, one, step), node.outputs[1:2], hint="scale")
    steps = graph.emit(node, "Sub", (zero, graph.emit(node, "Div", (low, scale), hint="below")), hint="steps")
    inside = graph.emit(node, "Clip", (steps,), (), {"min": 0.0, "max": _LARGEST}, "inside")
    whole = graph.emit(node, "Round", (inside,), hint="whole")
    point = graph.emit(node, "Cast", (whole,), node.outputs[2:3], {"to": "u8"}, "zero_point")
    graph.emit(node, "QuantizeLinear", (node.inputs[0], scale, point), node.outputs[:1], {"to": "u8"})


def _dequantised(node: OnnxNode, graph: Conversion, index: int, axis: int = 1, name: str = "") -> str:
    """The real values of input `index`, whose scale and zero point are the next two inputs."""
    triple = [each for each in node.inputs[index : index + 3] if each]
    hint = name or f"dequantise_{index}"
    return graph.apply(node, "DequantizeLinear", _QDQ, triple, attributes={"axis": axis}, hint=hint)


def _quantised(node: OnnxNode, graph: Conversion, value: str, index: int) -> None:
    """The node's output: `value` in the scale and zero point that are inputs `index` and `index + 1`."""
    parameters = [each for each in node.inputs[index : index + 2] if each]
    graph.apply(node, "QuantizeLinear", _QDQ, [value, *parameters], node.outputs)


def _bias(node: OnnxNode, graph: Conversion, bias: int, scales: Array) -> str:
    """The real values of an int32 bias, whose scale follows from the operands' and whose zero point is 0."""
    if graph.tensor(node.inputs[bias]).dtype.value != "i32":
        raise graph.refuse(node, f"input {bias} (the bias) must be int32")
    names = [
        node.inputs[bias],
        graph.add_constant(np.asarray(scales, np.float32), "bias_scale"),
        graph.add_constant(np.zeros(scales.shape, np.int32), "bias_zero_point"),
    ]
    return graph.apply(node, "DequantizeLinear", _QDQ, names, attributes={"axis": 0}, hint="dequantise_bias")


def _qlinear_conv(node: OnnxNode, graph: Conversion) -> None:
    operands = [_dequantised(node, graph, 0), _dequantised(node, graph, 3, axis=0)]
    if len(node.inputs) > 8 and node.inputs[8]:
        operands.append(_bias(node, graph, 8, _product(node, graph, 1, 4)))
    real = graph.apply(node, "Conv", 11, operands, attributes=node.attributes, hint="Conv")
    _quantised(node, graph, real, 6)


def _product(node: OnnxNode, graph: Conversion, first: int, second: int) -> Array:
    """Scale of a product of two operands, as float32: one, or one for each channel."""
    scales = (np.asarray(graph.need_constant(node, index), np.float32) for index in (first, second))
    a, b = scales
    product: Array = np.multiply(a.reshape(()) if a.size == 1 else a, b.reshape(()) if b.size == 1 else b)
    return product


def _qlinear_matmul(node: OnnxNode, graph: Conversion) -> None:
    if any(graph.tensor(node.inputs[index]).elements != 1 for index in (1, 6)):
        raise graph.refuse(node, "a scale for each row of the first operand or of the result is not supported")
    rank = len(graph.tensor(node.inputs[3]).shape)
    operands = [_dequantised(node, graph, 0), _dequantised(node, graph, 3, axis=rank - 1)]
    _quantised(node, graph, graph.apply(node, "MatMul", 13, operands, hint="MatMul"), 6)


def _qgemm(node: OnnxNode, graph: Conversion) -> None:
    alpha, transposed = node.number("alpha", 1.0), node.integer("transB")
    operands = [_dequantised(node, graph, 0), _dequantised(node, graph, 3, axis=0 if transposed else 1)]
    if len(node.inputs) > 6 and node.inputs[6]:
        operands.append(_bias(node, graph, 6, np.multiply(_product(node, graph, 1, 4), alpha, dtype=np.float32)))
    quantised = len(node.inputs) > 7 and node.inputs[7] != ""
    outputs = () if quantised else node.outputs
    real = graph.apply(node, "Gemm", 13, operands, outputs, node.attributes, hint="Gemm")
    if quantised:
        _quantised(node, graph, real, 7)


def _qlinear_binary(node: OnnxNode, graph: Conversion) -> None:
    operands = [_dequantised(node, graph, 0), _dequantised(node, graph, 3)]
    op_type = node.op_type.removeprefix("QLinear")
    _quantised(node, graph, graph.apply(node, op_type, 14, operands, hint=op_type), 6)


def _unary(node: OnnxNode, graph: Conversion, version: int, attributes: Mapping[str, object]) -> None:
    op_type = node.op_type.removeprefix("QLinear")
    real = graph.apply(node, op_type, version, [_dequantised(node, graph, 0)], attributes=attributes, hint=op_type)
    _quantised(node, graph, real, 3)


def _qlinear_elementwise(node: OnnxNode, graph: Conversion) -> None:
    _unary(node, graph, 13 if node.op_type == "QLinearSigmoid" else 6, node.attributes)


def _qlinear_softmax(node: OnnxNode, graph: Conversion) -> None:
    """The attribute `opset` says which Softmax is meant: before 13 it works on a flattened matrix."""
    _unary(node, graph, node.integer("opset", 13), {"axis": node.integer("axis", -1)})


def _qlinear_pool(node: OnnxNode, graph: Conversion) -> None:
    if node.integer("channels_last"):
        raise graph.refuse(node, "channels_last = 1 is not supported; quantise with channels first")
    attributes = {name: value for name, value in node.attributes.items() if name != "channels_last"}
    _unary(node, graph, 11 if node.op_type == "QLinearAveragePool" else 1, attributes)


def _qlinear_concat(node: OnnxNode, graph: Conversion) -> None:
    firsts = range(2, len(node.inputs), 3)
    if len(node.inputs) < 5 or (len(node.inputs) - 2) % 3:
        raise graph.refuse(node, f"{len(node.inputs)} inputs are not a scale, a zero point and triples")
    operands: Sequence[str] = [_dequantised(node, graph, first) for first in firsts]
    attributes = {"axis": node.integer("axis")}
    real = graph.apply(node, "Concat", 13, operands, attributes=attributes, hint="Concat")
    _quantised(node, graph, real, 0)


def _qlinear_where(node: OnnxNode, graph: Conversion) -> None:
    operands = [node.inputs[0], _dequantised(node, graph, 1), _dequantised(node, graph, 4)]
    _quantised(node, graph, graph.apply(node, "Where", 16, operands, hint="Where"), 7)


def _same_in_onnx(node: OnnxNode, graph: Conversion) -> None:
    """QuantizeLinear and DequantizeLinear as onnxruntime had them before ONNX took 16-bit types."""
    graph.apply(node, node.op_type, _QDQ, node.inputs, node.outputs, {"axis": node.integer("axis", 1)})


IMPORTS = (
    Import(op_type="DynamicQuantizeLinear", since=11, attributes={}, convert=_dynamic_quantize),
    Import(
        op_type="QLinearConv",
        since=10,
        attributes={**_WINDOW, "dilations": "INTS", "group": "INT"},
        convert=_qlinear_conv,
        min_inputs=8,
        max_inputs=9,
    ),
    Import(op_type="QLinearMatMul", since=10, attributes={}, convert=_qlinear_matmul, min_inputs=8, max_inputs=8),
    *runtime_imports(
        ("QuantizeLinear", {"axis": "INT"}, _same_in_onnx, 3, 3),
        ("DequantizeLinear", {"axis": "INT"}, _same_in_onnx, 3, 3),
        ("QGemm", _GEMM, _qgemm, 6, 9),
        ("QLinearAdd", {}, _qlinear_binary, 2, 8),
        ("QLinearMul", {}, _qlinear_binary, 2, 8),
        ("QLinearSigmoid", {}, _qlinear_elementwise, 2, 5),
        ("QLinearLeakyRelu", {"alpha": "FLOAT"}, _qlinear_elementwise, 2, 5),
        ("QLinearSoftmax", {"axis": "INT", "opset": "INT"}, _qlinear_softmax, 2, 5),
        ("QLinearGlobalAveragePool", {"channels_last": "INT"}, _qlinear_pool, 2, 5),
        ("QLinearAveragePool", _AVERAGE, _qlinear_pool, 2, 5),
        ("QLinearConcat", {"axis": "INT"}, _qlinear_concat, 5, _MANY),
        ("QLinearWhere", {}, _qlinear_where, 9, 9),
    ),
)
