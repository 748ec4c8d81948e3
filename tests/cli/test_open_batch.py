"""A model whose batch has no number, as Keras and TensorFlow export all of theirs, through every way in: it is 1, and a
note says so.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import tilewright as front_door
from tilewright.errors import TilewrightError
from tilewright.onnx_backend import prepare

NOTE = "note[TW1229]: 'N', the first dimension of the inputs, has no number in the file: it is 1"


@pytest.fixture(name="here")
def _here(desk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = shutil.copytree(desk, tmp_path / "here")
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize(
    "line",
    [
        "check dyn.onnx -t generic",
        "check dyn.onnx -t generic --strict",
        "compile dyn.onnx -t generic -o out",
        "validate dyn.onnx -t generic",
        "bench dyn.onnx -t cortex-m4",
    ],
)
def test_every_command_says_it(here: Path, typed: Callable[[str], Any], tool: Callable[[str], str], line: str) -> None:
    if line.startswith("validate"):
        tool("gcc")
    if line.startswith("bench"):
        tool("qemu-system-arm")
    done = typed(line)
    assert done.code == 0, done.err
    assert done.err.count(NOTE) == 1
    assert "TW1229" not in typed(f"{line} --dim N=1").err


def test_reports_have_the_shape_and_the_note(here: Path, typed: Callable[[str], Any]) -> None:
    taken, said = (typed(f"check dyn.onnx -t generic --json - {more}").json() for more in ("", "--dim N=1"))
    assert [one["code"] for one in taken["diagnostics"]] == ["TW1229"]
    assert said["diagnostics"] == []
    assert {**taken, "diagnostics": []} == said


def test_the_code_is_that_of_a_batch_of_one(here: Path, typed: Callable[[str], Any]) -> None:
    assert typed("compile dyn.onnx -t generic -o taken -q").code == 0
    assert typed("compile dyn.onnx -t generic -o said -q --dim N=1").code == 0
    for file in ("dyn.c", "dyn.h"):
        assert (here / "taken" / file).read_bytes() == (here / "said" / file).read_bytes()


def test_programs_see_it(here: Path) -> None:
    found = front_door.compile("dyn.onnx", "generic")
    assert [one.code for one in found.diagnostics] == ["TW1229"]
    assert front_door.compile("dyn.onnx", "generic", dim={"N": 3}).diagnostics == ()
    with pytest.raises(TilewrightError, match="TW1205"):
        front_door.compile("open.onnx", "generic")


def test_the_backend_takes_one_sample_and_no_other_batch(here: Path, tool: Callable[[str], str]) -> None:
    tool("gcc")
    model = prepare(onnx.load("dyn.onnx"))
    assert [one.code for one in model.deployment.diagnostics] == ["TW1229"]
    (result,) = model.run([np.array([[1, -2, 3, -4]], np.float32)])
    assert np.array_equal(result, [[1, 0, 3, 0]])
    with pytest.raises(TilewrightError, match="TW6020"):
        model.run([np.zeros((3, 4), np.float32)])
    (three,) = prepare(onnx.load("dyn.onnx"), dims={"N": 3}).run([np.ones((3, 4), np.float32)])
    assert three.shape == (3, 4)
