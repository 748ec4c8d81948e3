"""Streaming networks as ONNX files: a leaky sum, a causal convolution over a window, a pair of states that cross."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

FLOAT = TensorProto.FLOAT


def _saved(
    path: Path,
    nodes: Sequence[onnx.NodeProto],
    inputs: dict[str, list[int]],
    outputs: dict[str, list[int]],
    weights: dict[str, np.ndarray],
) -> Path:
    def values(shapes: dict[str, list[int]]) -> list[onnx.ValueInfoProto]:
        return [helper.make_tensor_value_info(name, FLOAT, shape) for name, shape in shapes.items()]

    graph = helper.make_graph(
        nodes,
        path.stem,
        values(inputs),
        values(outputs),
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, path)
    return path


@pytest.fixture(scope="session", name="streams")
def _streams(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """By name."""
    folder = tmp_path_factory.mktemp("streams")
    return {"leaky": _leaky(folder), "window": _window(folder), "crossing": _crossing(folder)}


def _leaky(folder: Path) -> Path:
    """A sum that halves what it has at every frame."""
    return _saved(
        folder / "leaky.onnx",
        [
            helper.make_node("Mul", ["h", "decay"], ["kept"], name="forget"),
            helper.make_node("Add", ["kept", "x"], ["h_next"], name="add"),
            helper.make_node("Relu", ["h_next"], ["y"], name="relu"),
        ],
        {"x": [1, 6], "h": [1, 6]},
        {"y": [1, 6], "h_next": [1, 6]},
        {"decay": np.array([0.5], np.float32)},
    )


def _window(folder: Path) -> Path:
    """A convolution over the two frames before and this one."""
    chance = np.random.default_rng(3)
    return _saved(
        folder / "window.onnx",
        [
            helper.make_node("Concat", ["cache", "x"], ["seen"], name="join", axis=2),
            helper.make_node("Conv", ["seen", "w", "b"], ["y"], name="conv", kernel_shape=[3]),
            helper.make_node("Slice", ["seen", "from", "to", "axis"], ["cache_next"], name="cut"),
        ],
        {"x": [1, 4, 5], "cache": [1, 4, 2]},
        {"y": [1, 3, 5], "cache_next": [1, 4, 2]},
        {
            "w": chance.integers(-3, 4, (3, 4, 3)).astype(np.float32),  # sums of whole numbers are exact
            "b": chance.integers(-3, 4, 3).astype(np.float32),
            "from": np.array([5], np.int64),
            "to": np.array([7], np.int64),
            "axis": np.array([2], np.int64),
        },
    )


def _crossing(folder: Path) -> Path:
    """Two states, each of which is computed from the other."""
    return _saved(
        folder / "crossing.onnx",
        [
            helper.make_node("Add", ["a", "x"], ["b_next"], name="one"),
            helper.make_node("Sub", ["b", "x"], ["a_next"], name="other"),
            helper.make_node("Sub", ["a_next", "b_next"], ["y"], name="both"),
        ],
        {"x": [2, 3], "a": [2, 3], "b": [2, 3]},
        {"y": [2, 3], "a_next": [2, 3], "b_next": [2, 3]},
        {},
    )
