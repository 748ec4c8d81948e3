"""Knows operators that carry their own scales, written with others: each of QLinearConv, QGemm, ... is dequantise,
operate, quantise; products behind dynamic quantisation are MatMulInteger, a scale and a bias.
Does not know integer arithmetic; the same rewrite that lowers graphs in QDQ form lowers these.

Source: ONNX QLinearConv-10, QLinearMatMul-10, and com.microsoft operators of onnxruntime's quantiser.
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

_QDQ = 13  # operator set in which scales may be given for each channel
_MANY = 1 << 16
_WINDOW = {"auto_pad": "STRING", "kernel_shape": "INTS", "pads": "INTS", "strides": "INTS"}
_GEMM = {"alpha": "FLOAT", "transA": "INT", "transB": "INT"}
_AVERAGE = {**_WINDOW, "ceil_mode": "INT", "count_include_pad": "INT", "channels_last": "INT"}


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


def _dynamic_quantize_matmul(node: OnnxNode, graph: Conversion) -> None:
    """Inputs are A, B, the scale of B, and optionally its zero point and a bias."""
    names = [graph.name(node, hint) for hint in ("bytes", "scale", "zero_point")]
    graph.emit(node, "DynamicQuantizeLinear", node.inputs[:1], names, hint="quantise")
    b, b_scale, b_zero, bias = (*node.inputs[1:], "", "")[:4]
    _scaled_product(node, graph, (names[0], b, names[2], b_zero), (names[1], b_scale), bias)


def _integer_matmul_to_float(node: OnnxNode, graph: Conversion) -> None:
    """Inputs are A, B, their scales, and optionally their zero points and a bias."""
    a, b, a_scale, b_scale, a_zero, b_zero, bias = (*node.inputs, "", "", "")[:7]
    _scaled_product(node, graph, (a, b, a_zero, b_zero), (a_scale, b_scale), bias)


def _scaled_product(
    node: OnnxNode, graph: Conversion, operands: Sequence[str], scales: Sequence[str], bias: str
) -> None:
    sums = graph.apply(node, "MatMulInteger", 10, operands, hint="sums")
    real = graph.emit(node, "Cast", (sums,), (), {"to": "f32"}, "real")
    scale = graph.emit(node, "Mul", scales, hint="scale")
    scaled = graph.emit(node, "Mul", (real, scale), () if bias else node.outputs, hint="scaled")
    if bias:
        graph.emit(node, "Add", (scaled, bias), node.outputs)


def _same_in_onnx(node: OnnxNode, graph: Conversion) -> None:
    """QuantizeLinear and DequantizeLinear as onnxruntime had them before ONNX took 16-bit types."""
    graph.apply(node, node.op_type, _QDQ, node.inputs, node.outputs, {"axis": node.integer("axis", 1)})


IMPORTS = (
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
        ("DynamicQuantizeMatMul", {}, _dynamic_quantize_matmul, 3, 5),
        ("MatMulIntegerToFloat", {}, _integer_matmul_to_float, 4, 7),
    ),
)
