"""`tilewright check`: it writes nothing, says what the plan costs, and ends with the command that writes it."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("on_cluster")


def test_it_writes_nothing_and_says_what_to_type_next(
    run: Any, model: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    said = run("check", model, "-t", "cluster-test", "--name", "eyes", "--memory", "l1=8K", "--layers")
    assert (said.code, said.err) == (0, "")
    assert [path.name for path in tmp_path.iterdir()] == ["net.onnx"]
    assert "ONNX nodes" in said.out  # the layers were asked for
    typed = said.out.rstrip().split("Next: ")[1]
    assert shlex.split(typed)[:3] == ["tilewright", "compile", str(model)]
    again = shlex.split(typed)
    assert run(*again[1:-1], tmp_path / "out").code == 0
    assert (tmp_path / "out" / "eyes.h").exists()


def test_what_is_typed_next_leaves_the_project_alone_where_this_did(run: Any, model: Path) -> None:
    """A project's file would speak in the second command and not in the first."""
    assert "Next: tilewright --no-project compile" in run("--no-project", "check", model, "-t", "cluster-test").out
    assert "Next: tilewright compile" in run("check", model, "-t", "cluster-test").out


def test_json_is_alone_on_stdout_or_in_a_file(run: Any, model: Path, tmp_path: Path) -> None:
    said = run("check", model, "-t", "cluster-test", "--json", "-")
    report = json.loads(said.out)
    assert report["artifacts"] == [] and report["macs"] == 64
    said = run("check", model, "-t", "cluster-test", "--json", tmp_path / "report.json")
    assert "FITS" in said.out and json.loads((tmp_path / "report.json").read_text()) == report


def test_a_file_that_cannot_be_written_is_said_before_the_model_is_read(run: Any, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    said = run("check", tmp_path / "none.onnx", "-t", "cluster-test", "--json", file / "report.json")
    assert said.code == 2 and "error[TW1107]" in said.err


def test_what_does_not_fit_is_no_fit(run: Any, model: Path) -> None:
    said = run("check", model, "-t", "cluster-test", "--memory", "l2=64")
    assert said.code == 5 and "FITS" not in said.out and "  try:  " in said.err


def test_warnings_are_errors_where_they_shall_be(run: Any, model: Path) -> None:
    words = ("check", model, "-t", "cluster-test", "--pool", "l2:1M", "--pool", "l1:64K", "--pool", "flash:16,ro,soft")
    lenient, strict = run(*words), run(*words, "--strict")
    assert lenient.code == 0 and "warning[TW50" in lenient.err and "FITS" in lenient.out
    assert strict.code == 2 and "error[TW1108]" in strict.err and "FITS" not in strict.out


def test_a_window_that_slides_shows_its_hops(run: Any, model: Path) -> None:
    words = ("check", model, "-t", "cluster-test", "--slide", "x[1]=1")
    said, data = run(*words), json.loads(run(*words, "--json", "-").out)
    assert said.code == 0 and "products a call" in said.out and "note[TW5040]" in said.err
    assert data["slide"]["hops"][0]["hop"] == 1
    assert "slide" not in json.loads(run("check", model, "-t", "cluster-test", "--json", "-").out)
    assert "error[TW1128]" in run("check", model, "-t", "cluster-test", "--slide", "y[1]=1").err
