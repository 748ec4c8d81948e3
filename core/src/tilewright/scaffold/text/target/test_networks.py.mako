"""Whole networks: each compiles for the machine, and every step equals its reference where the program runs."""

import numpy as np
import onnx
import pytest
import tilewright
from onnx import TensorProto, helper, numpy_helper


def tensor(array, name):
    return numpy_helper.from_array(np.asarray(array), name)


def float_network():
    """Conv, MaxPool, Tanh, Relu, Gemm."""
    rng = np.random.default_rng(1)
    constants = [
        tensor(rng.standard_normal((8, 3, 3, 3), np.float32), "w"),
        tensor(rng.standard_normal((8 * 64, 10), np.float32), "v"),
    ]
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], name="conv", pads=[1, 1, 1, 1]),
        helper.make_node("MaxPool", ["a"], ["b"], name="pool", kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Tanh", ["b"], ["c"], name="tanh"),
        helper.make_node("Relu", ["c"], ["d"], name="relu"),  # behind Conv it would become a part of that
        helper.make_node("Flatten", ["d"], ["e"], name="flatten"),
        helper.make_node("Gemm", ["e", "v"], ["y"], name="gemm"),
    ]
    return model(nodes, constants, [1, 3, 16, 16], [1, 10])


def integer_network():
    """A fully connected layer of int8, as quantisers write it."""
    rng = np.random.default_rng(2)
    constants = [
        tensor(rng.integers(-127, 128, (64, 24), np.int8), "w"),
        tensor(rng.integers(-500, 500, 24, np.int32), "b"),
        tensor(np.float32(0.0431), "xs"),
        tensor(np.float32(0.0117), "ws"),
        tensor(np.float32(0.0431) * np.float32(0.0117), "bs"),
        tensor(np.float32(0.331), "ys"),
        tensor(np.int8(3), "zero"),
        tensor(np.int8(0), "none"),
        tensor(np.int32(0), "nothing"),
    ]
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "xs", "zero"], ["xq"], name="quantize"),
        helper.make_node("DequantizeLinear", ["xq", "xs", "zero"], ["xf"]),
        helper.make_node("DequantizeLinear", ["w", "ws", "none"], ["wf"]),
        helper.make_node("DequantizeLinear", ["b", "bs", "nothing"], ["bf"]),
        helper.make_node("Gemm", ["xf", "wf", "bf"], ["yf"], name="gemm"),
        helper.make_node("QuantizeLinear", ["yf", "ys", "none"], ["yq"]),
        helper.make_node("DequantizeLinear", ["yq", "ys", "none"], ["y"], name="dequantize"),
    ]
    return model(nodes, constants, [4, 64], [4, 24])


def model(nodes, constants, x, y):
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in (("x", x), ("y", y))]
    graph = helper.make_graph(nodes, "network", ends[:1], ends[1:], constants)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(made)
    return made


@pytest.mark.parametrize("network", [float_network, integer_network])
@pytest.mark.parametrize("runner", [${", ".join(f'"{one}"' for one in tested)}])
def test_every_step_is_right(network, runner):
    compiled = tilewright.compile(network(), "${name}", name=network.__name__)
    assert compiled.validate(on=runner).passed


def kernels_of(network, **flags):
    compiled = tilewright.compile(network(), "${name}", name=network.__name__, **flags)
    return {step["kernel"] for step in compiled.report.data["steps"]}


def test_the_kernel_of_the_cores_is_chosen():
    assert "${module}.relu" in kernels_of(float_network)
% if engine:


def test_the_engine_is_chosen():
    assert "${module}.fully_connected" in kernels_of(integer_network)
% endif
% if dma:


def test_a_network_that_is_larger_than_the_scratchpad_is_tiled():
    compiled = tilewright.compile(float_network(), "${name}", name="tiled", memory={"tcm": "6K"})
    assert any(step["tiles"] > 1 for step in compiled.report.data["steps"])
    assert compiled.validate(on="twin").passed
% endif
