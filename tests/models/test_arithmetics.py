"""A quantised network under every arithmetic: C computes what was declared, on each kind of machine; how far that
moves outputs is told, and `--strict` refuses it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.validation.runner_choice import ready_runner
from tilewright.validation.validation import validate, vectors_of

node = helper.make_node


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """QDQ: a convolution with scales per channel, a sum, an average pool, a fully connected layer, softmax."""
    random = np.random.default_rng(11)
    arrays: dict[str, Any] = {
        "w": random.integers(-127, 128, (6, 3, 3, 3), np.int8), "ws": random.uniform(0.002, 0.02, 6).astype(np.float32),
        "wz": np.zeros(6, np.int8), "v": random.integers(-127, 128, (6, 5), np.int8), "vs": np.float32(0.011),
        "xs": np.float32(0.031), "xz": np.int8(-4), "cs": np.float32(0.083), "cz": np.int8(7),
        "ss": np.float32(0.097), "sz": np.int8(-11), "gs": np.float32(0.13), "gz": np.int8(2),
        "os": np.float32(1 / 256), "oz": np.int8(-128), "z": np.int8(0), "flat": np.array([1, 6], np.int64),
    }  # fmt: skip
    nodes = [
        node("DequantizeLinear", ["x", "xs", "xz"], ["x_"]),
        node("DequantizeLinear", ["w", "ws", "wz"], ["w_"], axis=0),
        node("Conv", ["x_", "w_"], ["c"], name="conv", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        node("QuantizeLinear", ["c", "cs", "cz"], ["cq"]), node("DequantizeLinear", ["cq", "cs", "cz"], ["c_"]),
        node("Relu", ["c_"], ["r"]), node("QuantizeLinear", ["r", "cs", "cz"], ["rq"]),
        node("DequantizeLinear", ["rq", "cs", "cz"], ["r_"]),
        node("Add", ["c_", "r_"], ["s"], name="sum"), node("QuantizeLinear", ["s", "ss", "sz"], ["sq"]),
        node("DequantizeLinear", ["sq", "ss", "sz"], ["s_"]),
        node("AveragePool", ["s_"], ["p"], name="pool", kernel_shape=[7, 2]),
        node("QuantizeLinear", ["p", "ss", "sz"], ["pq"]), node("DequantizeLinear", ["pq", "ss", "sz"], ["p_"]),
        node("Reshape", ["p_", "flat"], ["f"]), node("DequantizeLinear", ["v", "vs", "z"], ["v_"]),
        node("MatMul", ["f", "v_"], ["g"], name="gemm"), node("QuantizeLinear", ["g", "gs", "gz"], ["gq"]),
        node("DequantizeLinear", ["gq", "gs", "gz"], ["g_"]), node("Softmax", ["g_"], ["o"], name="softmax"),
        node("QuantizeLinear", ["o", "os", "oz"], ["y"]),
    ]  # fmt: skip
    graph = helper.make_graph(
        nodes, "small",
        [helper.make_tensor_value_info("x", TensorProto.INT8, [1, 3, 7, 2])],
        [helper.make_tensor_value_info("y", TensorProto.INT8, [1, 5])],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in arrays.items()],
    )  # fmt: skip
    file = tmp_path_factory.mktemp("network") / "small.onnx"
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    file.write_bytes(model.SerializeToString())
    return file


ROUNDINGS = {
    "onnx": {"conv": "onnx", "sum": "onnx", "pool": "rational", "gemm": "onnx", "softmax": "onnx"},
    "tflm": {"conv": "tflm", "sum": "tflm", "pool": "rational", "gemm": "tflm", "softmax": "tflm"},
    "pulp-shift": {
        "conv": "multiply-shift", "sum": "multiply-shift", "pool": "multiply-shift", "gemm": "multiply-shift",
        "softmax": "onnx",
    },
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", ROUNDINGS)
@pytest.mark.parametrize("target", ["generic", "siracusa"])
def test_c_computes_what_was_declared(name: str, target: str, network: Path, tool: Any) -> None:
    tool("cc")
    deployment = Deployment(network, target, Options(arithmetic=(("*", name),)))
    layers = {node.name: node.rounding for node in deployment.rewritten.graph.nodes}
    assert {layer: layers[layer] for layer in ROUNDINGS[name]} == ROUNDINGS[name]
    shown = validate(deployment, ready_runner(deployment, ""), vectors_of(deployment, None, 3))
    assert shown.passed, str(shown)
    assert all(step.bit_equal for step in shown.steps)
    told = [each.code for each in deployment.diagnostics if each.severity == "warning"]
    assert told == ([] if name == "onnx" else ["TW3007"])
    assert bool(shown.verdict.moves) == bool(deployment.moves) == (name != "onnx")
    assert ("pass 'declare-arithmetic' moved" in str(shown)) == (name != "onnx")


@pytest.mark.slow
def test_strict_refuses_a_decision_and_check_shows_it(network: Path) -> None:
    typed = [sys.executable, "-m", "tilewright", "check", str(network), "--target", "generic"]
    plain, asked, strict = (
        subprocess.run([*typed, *more], capture_output=True, text=True, check=False)
        for more in ((), ("--arithmetic", "tflm"), ("--arithmetic", "gemm=tflm", "--strict"))
    )
    assert (plain.returncode, asked.returncode, strict.returncode) == (0, 0, 2)
    assert "moved" not in plain.stdout
    assert "pass 'declare-arithmetic' moved" in asked.stdout
    assert "1 integer layer computes 'tflm' where the file means 'onnx'" in strict.stderr
