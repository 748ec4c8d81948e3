"""Operators with scales of their own compute what onnxruntime computes, through dequantise, operate, quantise."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

MICROSOFT = "com.microsoft"


def numbers(seed, shape, dtype):
    limits = np.iinfo(dtype)
    return np.random.default_rng(seed).integers(limits.min, limits.max + 1, shape).astype(dtype)


def weights(seed, shape):
    """Of seven bits: two products with a byte fit 16 bits, in which onnxruntime adds them up on some processors."""
    return np.random.default_rng(seed).integers(-63, 64, shape).astype(np.int8)


def scale(value):
    return np.array(value, np.float32)


def zero(value, dtype=np.uint8):
    return np.array(value, dtype)


def evaluate(graph, vocabulary, feeds):
    """Every node by its operator's exact reference."""
    values = {**graph.constants, **feeds}
    for site in graph.sites():
        inputs = [values[name] if name else None for name in site.node.inputs]
        values.update(zip(site.node.outputs, vocabulary[site.node.op].reference(site, inputs), strict=False))
    return [values[name] for name in graph.outputs]


@pytest.fixture
def compared(model, loads, vocabulary):
    """Largest difference from onnxruntime, and the imported graph. Constants may be arrays; `x` is the input."""
    onnxruntime = pytest.importorskip("onnxruntime")

    def run(op, arguments, x, domain="", **attributes):
        names = [f"i{n}" if isinstance(a, np.ndarray) else a for n, a in enumerate(arguments)]
        arrays = {n: a for n, a in zip(names, arguments, strict=True) if isinstance(a, np.ndarray)}
        constants = [numpy_helper.from_array(a, n) for n, a in arrays.items()]
        value = helper.make_tensor_value_info("x", helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
        node = helper.make_node(op, names, ["y"], op, domain=domain, **attributes)
        made = model(
            [node],
            inputs=[value],
            outputs=[helper.make_tensor_value_info("y", TensorProto.UNDEFINED, None)],
            constants=constants,
            domains={MICROSOFT: 1},
        )
        graph = loads(made).graph
        made.ir_version = 8
        made.graph.output[0].type.tensor_type.elem_type = 2 if graph.tensors["y"].dtype.value == "u8" else 3
        if graph.tensors["y"].dtype.value == "f32":
            made.graph.output[0].type.tensor_type.elem_type = 1
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        session = onnxruntime.InferenceSession(made.SerializeToString(), options, providers=["CPUExecutionProvider"])
        (expected,) = session.run(None, {"x": x})
        (got,) = evaluate(graph, vocabulary, {"x": x})
        assert got.dtype == expected.dtype and got.shape == expected.shape
        assert got.std() > 0, "the test exercises nothing"
        return np.abs(got.astype(np.float64) - expected.astype(np.float64)).max(), graph

    return run


U8 = (scale(0.02), zero(120))


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("bias", [False, True])
def test_qlinear_conv(compared, channels, bias):
    x, w = numbers(1, (1, 2, 6, 6), np.uint8), weights(2, (3, 2, 3, 3))
    w_scale = np.linspace(0.01, 0.02, channels, dtype=np.float32).reshape((channels,) if channels > 1 else ())
    w_zero = np.zeros(w_scale.shape, np.int8)
    inputs = ["x", *U8, w, w_scale, w_zero, scale(0.2), zero(100)]
    inputs += [np.array([500, -2000, 30], np.int32)] if bias else []
    worst, graph = compared("QLinearConv", inputs, x, pads=[1, 1, 1, 1])
    assert worst <= 1
    assert [node.op for node in graph.nodes][-2:] == ["Conv", "QuantizeLinear"]
    assert all(node.origin == ("QLinearConv",) for node in graph.nodes)


def test_qlinear_matmul(compared):
    x, w = numbers(3, (4, 8), np.uint8), weights(4, (8, 5))
    worst, graph = compared("QLinearMatMul", ["x", *U8, w, scale(0.01), zero(3, np.int8), scale(0.1), zero(90)], x)
    assert worst <= 1 and graph.nodes[-1].name == "QLinearMatMul"


@pytest.mark.parametrize("transposed", [0, 1])
@pytest.mark.parametrize("quantised", [False, True])
def test_qgemm(compared, transposed, quantised):
    x, w = numbers(5, (4, 8), np.uint8), weights(6, (5, 8) if transposed else (8, 5))
    bias = np.array([100, -100, 50, 0, 1], np.int32)
    inputs = ["x", *U8, w, scale(0.01), zero(0, np.int8), bias]
    inputs += [scale(0.1), zero(90)] if quantised else []
    worst, _ = compared("QGemm", inputs, x, MICROSOFT, transB=transposed, alpha=1.0)
    assert worst <= (1 if quantised else 1e-4)


@pytest.mark.parametrize("op", ["QLinearAdd", "QLinearMul"])
def test_binary(compared, op):
    x, w = numbers(7, (2, 3, 4), np.uint8), numbers(8, (3, 1), np.uint8)
    y = (scale(0.03), zero(100)) if op == "QLinearAdd" else (scale(0.05), zero(128))
    worst, _ = compared(op, ["x", *U8, w, scale(0.015), zero(128), *y], x, MICROSOFT)
    assert worst <= 1


@pytest.mark.parametrize(
    ("op", "attributes"),
    [
        ("QLinearSigmoid", {}),
        ("QLinearLeakyRelu", {"alpha": 0.1}),
        ("QLinearSoftmax", {"axis": -1, "opset": 13}),
        ("QLinearGlobalAveragePool", {"channels_last": 0}),
        ("QLinearAveragePool", {"kernel_shape": [2, 2], "strides": [2, 2]}),
    ],
)
def test_unary(compared, op, attributes):
    x = numbers(9, (1, 3, 4, 4), np.uint8)
    y = (scale(1 / 256), zero(0)) if op in ("QLinearSigmoid", "QLinearSoftmax") else (scale(0.02), zero(110))
    worst, _ = compared(op, ["x", *U8, *y], x, MICROSOFT, **attributes)
    assert worst <= 1


def test_concat(compared):
    x, w = numbers(10, (1, 2, 4), np.uint8), numbers(11, (1, 3, 4), np.uint8)
    worst, _ = compared(
        "QLinearConcat", [scale(0.03), zero(100), "x", *U8, w, scale(0.01), zero(9)], x, MICROSOFT, axis=1
    )
    assert worst <= 1


@pytest.mark.parametrize("y", [U8, (scale(0.05), zero(90))], ids=["one scale", "others"])
def test_where(compared, y):
    x, w = numbers(12, (2, 3, 4), np.uint8), numbers(13, (1, 4), np.uint8)
    chosen = np.random.default_rng(14).random((3, 1)) < 0.5
    worst, _ = compared("QLinearWhere", [chosen, "x", *U8, w, scale(0.03), zero(9), *y], x, MICROSOFT)
    assert worst <= 1


def test_a_bad_scale_in_each_place(refuses, model):
    for place in (1, 4, 6):
        arrays = [*U8, numbers(1, (1, 4), np.uint8), *U8, *U8]
        arrays[place - 1] = scale(0.0)
        names = ["x", *(f"i{n}" for n in range(len(arrays)))]
        constants = [numpy_helper.from_array(a, n) for a, n in zip(arrays, names[1:], strict=True)]
        x = helper.make_tensor_value_info("x", TensorProto.UINT8, [1, 4])
        node = helper.make_node("QLinearAdd", names, ["y"], domain=MICROSOFT)
        refuses(model([node], inputs=[x], constants=constants, domains={MICROSOFT: 1}), "TW3051")


def test_channels_last_pools_are_refused(refuses, model):
    constants = [numpy_helper.from_array(a, n) for a, n in zip((*U8, *U8), "abcd", strict=True)]
    x = helper.make_tensor_value_info("x", TensorProto.UINT8, [1, 4, 4, 3])
    node = helper.make_node("QLinearGlobalAveragePool", ["x", *"abcd"], ["y"], domain=MICROSOFT, channels_last=1)
    refuses(model([node], inputs=[x], constants=constants, domains={MICROSOFT: 1}), "TW2101", 4)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int16])
def test_quantisation_nodes_of_the_other_domain(loads, model, vocabulary, dtype):
    constants = [numpy_helper.from_array(a, n) for a, n in zip((scale(0.5), zero(3, dtype)), "sz", strict=True)]
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"], domain=MICROSOFT),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["y"], domain=MICROSOFT),
    ]
    graph = loads(model(nodes, constants=constants, domains={MICROSOFT: 1})).graph
    assert [node.op for node in graph.nodes] == ["QuantizeLinear", "DequantizeLinear"]
    assert graph.tensors["q"].dtype.numpy == dtype


class Samples:
    """Calibration data as onnxruntime's quantiser asks for it."""

    def __init__(self):
        self.left = [np.random.default_rng(seed).normal(size=(1, 2, 8, 8)).astype(np.float32) for seed in range(4)]

    def get_next(self):
        return {"x": self.left.pop()} if self.left else None


@pytest.mark.parametrize("form", ["QOperator", "QDQ"])
@pytest.mark.parametrize("activations", ["QUInt8", "QInt8"])
@pytest.mark.parametrize("per_channel", [False, True])
def test_networks_of_onnxruntimes_quantiser(loads, vocabulary, tmp_path, form, activations, per_channel):
    onnxruntime = pytest.importorskip("onnxruntime")
    quantization = pytest.importorskip("onnxruntime.quantization")
    rng = np.random.default_rng(5)
    arrays = {"w": (4, 2, 3, 3), "b": (4,), "fc": (36, 3), "fb": (3,)}
    values = {name: rng.normal(scale=0.2, size=shape).astype(np.float32) for name, shape in arrays.items()}
    constants = [numpy_helper.from_array(array, name) for name, array in values.items()]
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], "conv"),
        helper.make_node("Relu", ["c"], ["r"], "relu"),
        helper.make_node("MaxPool", ["r"], ["p"], "pool", kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Flatten", ["p"], ["f"], "flat"),
        helper.make_node("Gemm", ["f", "fc", "fb"], ["g"], "fc"),
        helper.make_node("Softmax", ["g"], ["y"], "soft"),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2, 8, 8])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 3])
    graph = helper.make_graph(nodes, "net", [x], [y], initializer=constants)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    (tmp_path / "float.onnx").write_bytes(made.SerializeToString())
    quantization.quantize_static(
        tmp_path / "float.onnx",
        tmp_path / "int8.onnx",
        Samples(),
        quant_format=quantization.QuantFormat[form],
        activation_type=quantization.QuantType[activations],
        per_channel=per_channel,
    )
    imported = loads(tmp_path / "int8.onnx")
    feed = Samples().get_next()
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.add_session_config_entry("session.disable_quant_qdq", "1")  # fused, sums of products might saturate
    session = onnxruntime.InferenceSession(tmp_path / "int8.onnx", options, providers=["CPUExecutionProvider"])
    (expected,) = session.run(None, feed)
    (got,) = evaluate(imported.graph, vocabulary, feed)
    assert expected.min() > 0.02, "a saturated softmax tests nothing"
    assert np.abs(got - expected).max() <= 1 / 255 + 1e-6, "more than one step of the softmax output"
