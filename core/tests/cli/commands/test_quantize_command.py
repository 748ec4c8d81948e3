"""`tilewright quantize`: a file that compiles, figures, and nothing written where something is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from onnx import TensorProto, helper, numpy_helper

from tilewright.cli.commands.quantize_command import command
from tilewright.cli.main import _run

DIGITS = Path(__file__).parents[4] / "examples" / "digits"


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    with np.load(DIGITS / "digits_test.npz") as digits:
        np.savez(tmp_path / "digits.npz", image=digits["images"][:60], labels=digits["labels"][:60])
    return tmp_path / "digits.npz"


def test_digits_keep_their_accuracy(samples: Path, tmp_path: Path) -> None:
    target = tmp_path / "my digits.onnx"
    arguments = [DIGITS / "digits_f32.onnx", "--calibration", samples, "-o", target, "--json", tmp_path / "found.json"]
    done = CliRunner().invoke(command, [str(word) for word in arguments])
    assert done.exit_code == 0, done.output
    assert target.stat().st_size > 1000
    assert f"Next: tilewright check '{target}' --target generic" in done.output
    found = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))
    assert found["labelled"] == 60
    assert found["right_quantised"] >= found["right_float"] - 1 >= 55
    assert [one["name"] for one in found["outputs"]] == ["scores"]
    assert len(found["largest_losses"]) == 5


def test_wrong_samples_write_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.savez(tmp_path / "wrong.npz", picture=np.zeros((3, 1, 8, 8)))
    arguments = [DIGITS / "digits_f32.onnx", "--calibration", tmp_path / "wrong.npz", "-o", tmp_path / "int8.onnx"]
    assert _run(["quantize", *map(str, arguments)]) == 2
    assert "error[TW6030]" in capsys.readouterr().err
    assert not (tmp_path / "int8.onnx").exists()


def test_a_network_that_is_quantised_already_is_refused(
    samples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [DIGITS / "digits_int8.onnx", "--calibration", samples, "-o", tmp_path / "again.onnx"]
    assert _run(["quantize", *map(str, arguments)]) == 3
    said = capsys.readouterr().err
    assert "error[TW1231]: this network is quantised already" in said and "QuantizeLinear" in said
    assert not (tmp_path / "again.onnx").exists()


def test_weights_that_stay_float_are_told(tmp_path: Path) -> None:
    """onnxruntime leaves recurrent layers as they are."""
    ends = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 1, 8]),
        helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, 1, 1, 8]),
    ]
    weights = [
        numpy_helper.from_array(np.full((1, 24, 8), 0.1, np.float32), name)
        for name in ("input_weights", "hidden_weights")
    ]
    node = helper.make_node("GRU", ["x", "input_weights", "hidden_weights"], ["y"], hidden_size=8)
    graph = helper.make_graph([node], "g", ends[:1], ends[1:], weights)
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "gru.onnx"
    )
    np.savez(tmp_path / "samples.npz", x=np.random.default_rng(0).standard_normal((3, 4, 1, 8)).astype(np.float32))
    words = [tmp_path / "gru.onnx", "--calibration", tmp_path / "samples.npz", "-o", tmp_path / "int8.onnx"]
    done = CliRunner().invoke(command, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    assert "TW3005" in done.output and "GRU (1,536 B)" in done.output and "--recurrent int8" in done.output
    done = CliRunner().invoke(command, [*(str(word) for word in words), "--recurrent", "int8"])
    assert done.exit_code == 0, done.output
    assert "TW3005" not in done.output and "TW3032" in done.output
    held = {each.name: each.data_type for each in onnx.load(tmp_path / "int8.onnx").graph.initializer}
    assert held["hidden_weights_int8"] == TensorProto.INT8 and "hidden_weights" not in held
