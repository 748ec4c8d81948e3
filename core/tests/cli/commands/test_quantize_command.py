"""`tilewright quantize`: a file that compiles, figures, and nothing written where something is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

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
