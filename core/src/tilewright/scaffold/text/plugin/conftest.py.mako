"""A small network that every test may use."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper


@pytest.fixture
def network():
    """Conv, Relu, MaxPool, Relu, Gemm."""
    rng = np.random.default_rng(1)
    constants = [
        numpy_helper.from_array(rng.standard_normal((4, 2, 3, 3), np.float32), "w"),
        numpy_helper.from_array(rng.standard_normal((4 * 16, 5), np.float32), "v"),
    ]
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], name="conv", pads=[1, 1, 1, 1]),
        helper.make_node("Tanh", ["a"], ["b"], name="tanh"),
        helper.make_node("MaxPool", ["b"], ["c"], name="pool", kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Relu", ["c"], ["d"], name="first"),
        helper.make_node("Relu", ["d"], ["e"], name="second"),
        helper.make_node("Flatten", ["e"], ["f"], name="flatten"),
        helper.make_node("Gemm", ["f", "v"], ["y"], name="gemm"),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2, 8, 8])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 5])
    graph = helper.make_graph(nodes, "network", [x], [y], constants)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(made)
    return made
