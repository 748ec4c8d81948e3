"""`validate --against`: another runtime is asked, too, and both agree."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

Run = Callable[..., Any]


@pytest.mark.parametrize("runtime", ["onnxruntime", "onnx-reference"])
def test_a_float_network_agrees(tilewright: Run, float32: Path, runtime: str) -> None:
    if runtime == "onnxruntime":
        pytest.importorskip("onnxruntime")
    finished = tilewright("validate", float32, "-t", "generic", "--sets", "1", "--against", runtime)
    assert finished.code == 0, finished.err
    assert f"against {runtime}: " in finished.out
    assert "PASS" in finished.out.splitlines()


def test_indices_that_are_drawn_are_there(tilewright: Run, tmp_path: Path) -> None:
    """Other runtimes refuse what is outside of a table; a network that is sound is not blamed for random inputs."""
    table = numpy_helper.from_array(np.arange(20, dtype=np.float32).reshape(10, 2), "table")
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "words"], ["y"])],
        "embedding",
        [helper.make_tensor_value_info("words", TensorProto.INT64, [1, 50])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 50, 2])],
        [table],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), tmp_path / "embedding.onnx")
    words = ("validate", tmp_path / "embedding.onnx", "-t", "generic", "--sets", "1", "--against", "onnx-reference")
    finished = tilewright(*words)
    assert finished.code == 0, finished.err
    assert "PASS" in finished.out.splitlines()


def test_every_number_is_in_the_json(tilewright: Run, float32: Path) -> None:
    words = ("validate", float32, "-t", "generic", "--sets", "1", "--against", "onnx-reference", "--json", "-")
    found = tilewright(*words).json()["against"]
    assert found["agrees"]
    assert found["nodes"]
    assert {"node", "op", "share_of_spread", "within", "value"} == found["nodes"][0].keys()


def test_integer_ends_have_no_counterpart(tilewright: Run, int8: Path) -> None:
    finished = tilewright("validate", int8, "-t", "generic", "--io-type", "int8", "--against", "onnx-reference")
    assert finished.code == 2
    assert "exclude each other" in finished.err


TFLITE = Path(__file__).parents[2] / "examples" / "digits" / "digits_int8.tflite"


@pytest.mark.parametrize("runtime", ["onnx-reference", "tflite-micro"])
def test_a_file_of_another_format_is_judged_without_a_target(tilewright: Run, runtime: str) -> None:
    if runtime == "tflite-micro":
        pytest.importorskip("tflite_micro")
    finished = tilewright("judge", TFLITE, "--against", runtime, "--sets", "1")
    assert finished.code == 0, finished.err
    assert "verdict: both sides agree" in finished.out


def test_every_tensor_of_a_tflite_file_is_compared_with_tflm(tilewright: Run) -> None:
    pytest.importorskip("tflite_micro")
    finished = tilewright("validate", TFLITE, "-t", "generic", "--against", "tflite-micro")
    assert finished.code == 0, finished.err
    assert "against tflite-micro: 6 of 6 values that both have are equal" in finished.out


def test_a_runtime_of_another_format_is_none_here(tilewright: Run, float32: Path) -> None:
    finished = tilewright("validate", float32, "-t", "generic", "--against", "tflite-micro")
    assert finished.code == 2 and "error[TW1101]: no runtime called 'tflite-micro' takes this model" in finished.err
