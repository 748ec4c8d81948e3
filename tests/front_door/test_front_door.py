"""The front door in Python, with real targets: the same files as the command's, and the same verdict."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import tilewright

DIGITS = Path(__file__).parents[2] / "examples" / "digits"
INT8 = DIGITS / "digits_int8.onnx"


def command(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    arguments = [sys.executable, "-m", "tilewright", *words]
    return subprocess.run(arguments, cwd=folder, capture_output=True, text=True, check=True)


def test_it_writes_what_the_command_writes(tmp_path: Path) -> None:
    done = tilewright.compile(INT8, "cortex-m4", memory={"ram": "64K"}, emit=["make"])
    words = ("compile", str(INT8), "-t", "cortex-m4", "--memory", "ram=64K", "--emit", "make", "-o")
    said = command(*words, "typed", folder=tmp_path).stderr
    done.write(tmp_path / "called")
    typed, called = (
        {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("typed", "called")
    )
    assert typed == called
    assert said.startswith(str(done.report))


def test_a_path_bytes_and_a_protobuf_are_one_model() -> None:
    sources: list[Any] = [str(INT8), INT8.read_bytes(), onnx.load(INT8)]
    plans = [tilewright.compile(source, "generic", name="digits").report.data for source in sources]
    assert plans[0]["plan_id"] == plans[1]["plan_id"] == plans[2]["plan_id"]
    assert len({plan["model"]["sha256"] for plan in plans[:2]}) == 1


def test_it_says_whether_the_code_is_right(tool: Any, tmp_path: Path) -> None:
    tool("cc")
    done = tilewright.compile(INT8, "generic")
    found = done.validate(on="host", sets=1)
    words = ("validate", str(INT8), "-t", "generic", "--on", "host", "--sets", "1", "--json", "v.json")
    assert str(found) + "\n" == command(*words, folder=tmp_path).stdout
    assert found.data == json.loads((tmp_path / "v.json").read_text(encoding="utf-8"))
    assert (found.passed, found.fault, found.runner, len(found.sets)) == (True, None, "host", 1)
    assert [output.name for output in found.outputs] == ["scores"]
    assert all(step.bit_equal for step in found.steps)


def test_vectors_that_it_does_not_reach_are_told_and_no_exception(tool: Any, tmp_path: Path) -> None:
    tool("cc")
    image, scores = np.zeros((1, 1, 8, 8), np.float32), np.full((1, 10), 9, np.float32)
    np.savez(tmp_path / "wrong.npz", **{"set0/in/image": image, "set0/out/scores": scores})
    found = tilewright.compile(INT8, "generic").validate(on="host", io=tmp_path / "wrong.npz")
    assert not found.passed
    assert found.fault is not None
    assert (found.fault.code, found.fault.where) == ("TW6002", "output 'scores'")
    assert str(found).endswith("FAIL")


def test_what_does_not_fit_is_an_error_with_its_code() -> None:
    with pytest.raises(tilewright.TilewrightError) as caught:
        tilewright.compile(INT8, "generic", memory={"ram": 300})
    assert (caught.value.code, caught.value.exit_code) == ("TW5001", 5)


def test_with_strict_a_warning_is_an_error_that_tells_it() -> None:
    soft = {"pool": "a:300,soft"}
    assert [item.code for item in tilewright.compile(INT8, "generic", **soft).diagnostics] == ["TW5031"]
    with pytest.raises(tilewright.TilewrightError) as caught:
        tilewright.compile(INT8, "generic", strict=True, **soft)
    assert (caught.value.code, caught.value.exit_code) == ("TW1108", 2)
    assert "warning[TW5031]: soft limit exceeded" in str(caught.value)
    assert tilewright.compile(INT8, "generic", strict=True).diagnostics == ()


def test_it_continues_from_a_state_that_was_exported(tmp_path: Path) -> None:
    first = tilewright.compile(INT8, "generic")
    first.deployment.export_state(tmp_path / "plan")
    again = tilewright.compile(INT8, "generic", import_state=tmp_path / "plan")
    assert again.files == first.files
    with pytest.raises(tilewright.TilewrightError, match="TW122"):
        tilewright.compile(INT8, "generic", import_state=str(tmp_path))


def test_a_runner_that_there_is_not_is_an_error_of_ours() -> None:
    with pytest.raises(tilewright.TilewrightError):
        tilewright.compile(INT8, "generic").validate(on="nowhere")
