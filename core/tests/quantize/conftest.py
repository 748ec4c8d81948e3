"""A float network of two layers, and samples of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper


@pytest.fixture
def network(tmp_path: Path) -> Path:
    """x [1, 3, 6, 6] -> Conv 4 -> Relu -> Flatten -> Gemm 5 -> y."""
    random = np.random.default_rng(0)

    def weights(name: str, *shape: int) -> TensorProto:
        return numpy_helper.from_array(random.normal(0, 0.3, shape).astype(np.float32), name)

    graph = helper.make_graph(
        [
            helper.make_node("Conv", ["x", "w", "b"], ["c"], name="conv", pads=[1, 1, 1, 1]),
            helper.make_node("Relu", ["c"], ["r"], name="relu"),
            helper.make_node("Flatten", ["r"], ["f"], name="flatten"),
            helper.make_node("Gemm", ["f", "v"], ["y"], name="dense"),
        ],
        "two",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 6, 6])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 5])],
        [weights("w", 4, 3, 3, 3), weights("b", 4), weights("v", 144, 5)],
    )
    file = tmp_path / "two.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10), file)
    return file


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    """20 samples, with a class of each."""
    random = np.random.default_rng(1)
    file = tmp_path / "samples.npz"
    np.savez(file, x=random.normal(size=(20, 3, 6, 6)).astype(np.float32), labels=np.arange(20) % 5)
    return file
