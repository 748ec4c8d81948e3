"""How ONNX nodes become Conv, pools, Gemm, MatMul, Softmax, reductions and BatchNormalization in normal form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.comparison.reference import run
from tilewright.errors import TilewrightError
from tilewright.frontend.load import load
from tilewright.ir.graphs.graph import Graph
from tilewright.operators.families import FAMILIES

Array = npt.NDArray[Any]
OPERATORS = {operator.name: operator for family in FAMILIES for operator in import_module(family).OPERATORS}


def imported(
    op: str,
    inputs: Mapping[str, Sequence[int] | Array],
    *,
    opset: int = 17,
    outputs: int = 1,
    **attributes: Any,
) -> Graph:
    """The graph of one node; inputs are shapes of run-time tensors, or arrays that are constants."""
    names = [f"y{index}" for index in range(outputs)]
    node = helper.make_node(op, list(inputs), names, name="n", **attributes)
    values = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, list(value))
        for name, value in inputs.items()
        if not isinstance(value, np.ndarray)
    ]
    constants = [
        numpy_helper.from_array(value, name) for name, value in inputs.items() if isinstance(value, np.ndarray)
    ]
    results = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names]
    graph = helper.make_graph([node], "g", values, results, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    return load(model.SerializeToString(), operators=OPERATORS).graph


def floats(*shape: int) -> Array:
    return np.random.default_rng(3).standard_normal(shape).astype(np.float32)


def ops(graph: Graph) -> list[str]:
    return [node.op for node in graph.nodes]


@pytest.mark.parametrize(
    ("attributes", "pads", "shape"),
    [
        ({}, (0, 0, 0, 0), (3, 4)),
        ({"auto_pad": "VALID", "pads": [1, 1, 1, 1]}, (0, 0, 0, 0), (3, 4)),
        ({"pads": [1, 0, 2, 3]}, (1, 0, 2, 3), (6, 7)),
        ({"auto_pad": "SAME_UPPER"}, (1, 1, 1, 1), (5, 6)),
        ({"auto_pad": "SAME_UPPER", "strides": [2, 2]}, (1, 0, 1, 1), (3, 3)),
        ({"auto_pad": "SAME_LOWER", "strides": [2, 2]}, (1, 1, 1, 0), (3, 3)),
        ({"auto_pad": "SAME_UPPER", "dilations": [2, 1]}, (2, 1, 2, 1), (5, 6)),
        ({"auto_pad": "SAME_UPPER", "strides": [5, 7]}, (0, 0, 0, 0), (1, 1)),
    ],
)
def test_conv_pads(attributes: dict[str, Any], pads: tuple[int, ...], shape: tuple[int, int]) -> None:
    (node,) = (graph := imported("Conv", {"x": (1, 2, 5, 6), "w": floats(4, 2, 3, 3)}, **attributes)).nodes
    assert node.integers("pads") == pads
    assert node.integers("kernel_shape") == (3, 3)
    assert graph.tensors["y0"].shape == (1, 4, *shape)
    assert "auto_pad" not in node.attributes


@pytest.mark.parametrize(
    ("inputs", "attributes", "reason"),
    [
        ({"x": (1, 2, 5, 5), "w": (4, 2, 3, 3)}, {"pads": [0, 0, 0, -1]}, "pads is"),
        ({"x": (1, 2, 5, 5), "w": (4, 2, 3, 3)}, {"pads": [0, 0]}, "4 values"),
        ({"x": (1, 2, 5, 5), "w": (4, 2, 3, 3)}, {"strides": [0, 1]}, "strides is"),
        ({"x": (1, 2, 5, 5), "w": (4, 2, 3, 3)}, {"dilations": [2**40, 1]}, "dilations is"),
        ({"x": (1, 2, 5, 5), "w": (4, 2, 3, 3)}, {"auto_pad": "SAME"}, "auto_pad is 'SAME'"),
        ({"x": (1, 2, 5, 5), "w": (4, 2, 3, 3)}, {"group": 0}, "group is 0"),
        ({"x": (1, 2, 5, 5), "w": (4, 2, 3, 3)}, {"kernel_shape": [3, 2]}, "do not fit"),
        ({"x": (1, 2, 5, 5, 5, 5), "w": (4, 2, 1, 1, 1, 1)}, {}, "4 spatial axes"),
        ({"x": (1, 2, 5, 5), "w": (4, 2, 6, 3)}, {}, "does not fit"),
    ],
)
def test_conv_refusals(inputs: dict[str, Any], attributes: dict[str, Any], reason: str) -> None:
    with pytest.raises(TilewrightError, match=reason):
        imported("Conv", inputs, **attributes)


def test_pools() -> None:
    (node,) = imported("MaxPool", {"x": (1, 2, 5, 5)}, kernel_shape=[2, 2], ceil_mode=1, strides=[2, 2]).nodes
    assert (node.op, node.integer("ceil_mode"), node.integers("dilations")) == ("MaxPool", 1, (1, 1))
    (node,) = imported("AveragePool", {"x": (1, 2, 5)}, opset=9, kernel_shape=[2], count_include_pad=1).nodes
    assert (node.op, node.integer("count_include_pad")) == ("AveragePool", 1)
    for op, wanted in (("GlobalMaxPool", "MaxPool"), ("GlobalAveragePool", "AveragePool")):
        graph = imported(op, {"x": (1, 2, 5, 7)})
        assert ops(graph) == [wanted] and graph.nodes[0].integers("kernel_shape") == (5, 7)
        assert graph.tensors["y0"].shape == (1, 2, 1, 1)
    with pytest.raises(TilewrightError, match="dilations"):
        imported("AveragePool", {"x": (1, 2, 5)}, opset=17, kernel_shape=[2], dilations=[2])


@pytest.mark.parametrize(
    ("a", "b", "shape"),
    [((3,), (3,), ()), ((3,), (2, 3, 4), (2, 4)), ((2, 4, 3), (3,), (2, 4)), ((5, 3), (2, 3, 4), (2, 5, 4))],
)
def test_matmul_of_vectors(a: tuple[int, ...], b: tuple[int, ...], shape: tuple[int, ...]) -> None:
    graph = imported("MatMul", {"a": a, "b": b})
    assert graph.tensors["y0"].shape == shape
    values = {"a": floats(*a), "b": floats(*b)}
    found = run(graph, values, OPERATORS)["y0"]
    np.testing.assert_allclose(found, values["a"] @ values["b"], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("trans_a", [0, 1])
@pytest.mark.parametrize("trans_b", [0, 1])
@pytest.mark.parametrize("bias", [None, (), (1,), (4,), (1, 4), (2, 1), (2, 4)])
def test_gemm(trans_a: int, trans_b: int, bias: tuple[int, ...] | None) -> None:
    a, b = floats(*((3, 2) if trans_a else (2, 3))), floats(*((4, 3) if trans_b else (3, 4)))
    inputs: dict[str, Any] = {"a": a.shape, "b": b} if bias is None else {"a": a.shape, "b": b, "c": floats(*bias)}
    graph = imported("Gemm", inputs, alpha=0.5, beta=2.0, transA=trans_a, transB=trans_b)
    assert ops(graph) == (["Transpose", "Gemm"] if trans_a else ["Gemm"])
    wanted = 0.5 * (a.T if trans_a else a) @ (b.T if trans_b else b) + (0 if bias is None else 2.0 * inputs["c"])
    np.testing.assert_allclose(run(graph, {"a": a}, OPERATORS)["y0"], wanted, rtol=1e-5, atol=1e-6)


def test_softmax_axes() -> None:
    assert imported("Softmax", {"x": (2, 3, 4)}, opset=13).nodes[0].integer("axis") == 2
    assert ops(imported("Softmax", {"x": (2, 3, 4)}, opset=13, axis=0)) == ["Softmax"]
    graph = imported("Softmax", {"x": (2, 3, 4)}, opset=11)  # axis 1 and all after it are one row
    assert ops(graph) == ["Reshape", "Softmax", "Reshape"]
    x = floats(2, 3, 4)
    found = run(graph, {"x": x}, OPERATORS)["y0"]
    np.testing.assert_allclose(found.reshape(2, 12).sum(axis=1), 1, rtol=1e-6)
    assert ops(imported("Softmax", {"x": (2, 3)}, opset=9)) == ["Softmax"]
    with pytest.raises(TilewrightError, match="axis 3"):
        imported("Softmax", {"x": (2, 3, 4)}, axis=3)


def test_reduce_axes() -> None:
    def axes(*values: int) -> Array:
        return np.array(values, np.int64)

    (node,) = imported("ReduceMean", {"x": (2, 3, 4)}, axes=[-1, 0]).nodes
    assert (node.integers("axes"), node.integer("keepdims")) == ((0, 2), 1)
    (node,) = imported("ReduceMean", {"x": (2, 3, 4)}).nodes
    assert node.integers("axes") == (0, 1, 2)
    (node,) = imported("ReduceMean", {"x": (2, 3, 4), "axes": axes(-2)}, opset=18, keepdims=0).nodes
    assert (node.op, node.integers("axes"), len(node.inputs)) == ("ReduceMean", (1,), 1)
    (node,) = imported("ReduceSum", {"x": (2, 3), "axes": axes()}, opset=13).nodes
    assert node.integers("axes") == (0, 1)
    graph = imported("ReduceSum", {"x": (2, 3), "axes": axes()}, opset=13, noop_with_empty_axes=1)
    assert "ReduceSum" not in ops(graph) and graph.tensors["y0"].shape == (2, 3)
    with pytest.raises(TilewrightError, match="axis 2"):
        imported("ReduceMax", {"x": (2, 3)}, axes=[2])


def test_batch_normalization() -> None:
    parameters = {name: np.abs(floats(3)) + 1 for name in ("s", "b", "m", "v")}
    for opset, more in ((7, {"spatial": 1}), (9, {}), (14, {"training_mode": 0}), (15, {})):
        (node,) = imported("BatchNormalization", {"x": (1, 3, 4), **parameters}, opset=opset, **more).nodes
        assert node.op == "BatchNormalization" and node.number("epsilon") == pytest.approx(1e-5)
    with pytest.raises(TilewrightError, match="training"):
        imported("BatchNormalization", {"x": (1, 3, 4), **parameters}, training_mode=1)
    with pytest.raises(TilewrightError, match="spatial"):
        imported("BatchNormalization", {"x": (1, 3, 4), **parameters}, opset=7, spatial=0)


def test_batch_normalization_with_computed_parameters() -> None:
    inputs = {"x": floats(2, 3, 4), **{name: np.abs(floats(3)) + 1 for name in ("s", "b", "m", "v")}}
    graph = imported("BatchNormalization", {name: array.shape for name, array in inputs.items()})
    assert "BatchNormalization" not in ops(graph)
    x, scale, shift, mean, variance = (array.astype(np.float64) for array in inputs.values())
    wanted = (x - mean[:, None]) / np.sqrt(variance[:, None] + 1e-5) * scale[:, None] + shift[:, None]
    np.testing.assert_allclose(run(graph, inputs, OPERATORS)["y0"], wanted, rtol=1e-5, atol=1e-6)
