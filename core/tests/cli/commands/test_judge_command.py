"""`tilewright judge`: which side is meant, what is asked of a runtime, and how a verdict becomes an exit code."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

X = np.array([[-3, -2, -1, 0, 1, 2, 3, 4]], np.int8)


@pytest.fixture(name="halves")
def _halves(tmp_path: Path) -> Path:
    """x / 2, rounded to integers."""
    ends = [helper.make_tensor_value_info(name, TensorProto.INT8, [1, 8]) for name in "xy"]
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "fine"], ["real"]),
        helper.make_node("QuantizeLinear", ["real", "coarse", "zero"], ["y"]),
    ]
    numbers = [helper.make_tensor(name, TensorProto.FLOAT, [], [value]) for name, value in (("fine", 1), ("coarse", 2))]
    graph = helper.make_graph(
        nodes, "g", ends[:1], ends[1:], [*numbers, helper.make_tensor("zero", TensorProto.INT8, [], [0])]
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (tmp_path / "halves.onnx").write_bytes(model.SerializeToString())
    return tmp_path / "halves.onnx"


def test_a_device_that_rounds_halves_away(run: Any, halves: Path, tmp_path: Path) -> None:
    away = np.array([[-2, -1, -1, 0, 1, 1, 2, 2]], np.int8)
    np.savez(tmp_path / "device.npz", **{"set0/in/x": X, "set0/out/y": away})
    said = run("judge", halves, "--against", tmp_path / "device.npz", "--json", tmp_path / "verdict.json")
    assert said.code == 0, said.err
    assert said.out.rstrip().endswith("verdict: tilewright is right, device.npz is off")
    found = json.loads((tmp_path / "verdict.json").read_text())
    assert (found["right"], found["judgements"][0]["ties"]) == ("tilewright", 2)


def test_a_runtime_with_random_inputs(run: Any, halves: Path) -> None:
    said = run("judge", halves, "--against", "onnx-reference", "--sets", "3", "--seed", "4", "--json", "-")
    assert said.code == 0, said.err
    assert {key: json.loads(said.out)[key] for key in ("right", "sets", "against")} == {
        "right": "agree",
        "sets": 3,
        "against": "onnx-reference",
    }


def test_a_runtime_that_is_missing_is_said_before_the_model_is_read(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    said = run("judge", tmp_path / "nothing.onnx", "--against", "onnxruntime")
    assert said.code == 7 and "error[TW7031]" in said.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--against", "onnxruntim"), "did you mean 'onnxruntime'?"),
        (("--against", "nothing.npz"), "nothing.npz"),
        ((), "--against"),
        (("--against", "inputs.npz", "--sets", "2"), "leave one out"),
    ],
)
def test_words_that_mean_nothing(
    run: Any, halves: Path, words: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(halves.parent)
    np.savez("inputs.npz", **{"set0/in/x": X, "set0/out/y": X})
    found = run("judge", halves, *words)
    assert found.code == 2 and said in found.err
