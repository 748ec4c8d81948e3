"""`tilewright validate`: what is run on which vectors, how the verdict becomes an exit code, which words are alike."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tilewright.deployment import Deployment
from tilewright.errors import Diagnostic
from tilewright.ir.programs.runner import Job, RunResult

pytestmark = pytest.mark.usefixtures("on_cluster")
Ran = tuple[list[Job], Callable[[float], None]]


@pytest.fixture(name="ran")
def _ran(monkeypatch: pytest.MonkeyPatch) -> Ran:
    """A runner that computes the network by numpy, plus an error; the jobs that it was given, and how to set that."""
    jobs, error = [], [0.0]

    def run(job: Job, folder: Path) -> RunResult:
        del folder
        jobs.append(job)
        outputs = [np.maximum(given["x"].sum(axis=1, keepdims=True) * np.ones((1, 4)), 0) for given in job.input_sets]
        found = tuple({"y": (one + error[0]).astype(np.float32)} for one in outputs)
        return RunResult(outputs=found, values=found)

    runner = SimpleNamespace(name="numpy", run=run, available=lambda: None)
    monkeypatch.setattr("tilewright.validation.runner_choice.ready_runner", lambda *_: runner)
    return jobs, lambda value: error.__setitem__(0, value)


def test_a_network_that_is_right_passes(run: Any, model: Path, ran: Ran) -> None:
    said = run("validate", model, "-t", "cluster-test", "--sets", "3", "--json", "-")
    assert said.code == 0, said.err
    found = json.loads(said.out)
    assert (found["status"], found["sets"], found["runner"]) == ("pass", 3, "numpy")
    assert [output["elements"] for output in found["outputs"]] == [24]
    assert len(ran[0][0].input_sets) == 3 and "running 3 set(s) on numpy" in said.err
    assert run("validate", model, "-t", "cluster-test").out.rstrip().endswith("PASS")


def test_a_network_that_is_wrong_has_exit_6_and_the_verdict_all_the_same(
    run: Any, model: Path, ran: Ran, tmp_path: Path
) -> None:
    ran[1](0.5)
    said = run("validate", model, "-t", "cluster-test", "--json", tmp_path / "verdict.json")
    assert said.code == 6 and "FAIL" in said.out and "error[TW600" in said.err
    assert json.loads((tmp_path / "verdict.json").read_text())["status"] == "fail"


def test_vectors_of_a_file_are_those_that_run(run: Any, model: Path, ran: Ran, tmp_path: Path) -> None:
    given = np.arange(16, dtype=np.float32).reshape(2, 8)
    np.savez(tmp_path / "vectors.npz", **{"set0/in/x": given})
    assert run("validate", model, "-t", "cluster-test", "--io", tmp_path / "vectors.npz").code == 0
    (job,) = ran[0]
    assert np.array_equal(job.input_sets[0]["x"], given)


@pytest.mark.parametrize("word", ["user", "pool", "push", "x=pull"])
def test_a_word_about_places_is_told_from_a_file_of_vectors(run: Any, model: Path, ran: Ran, word: str) -> None:
    said = run("validate", model, "-t", "cluster-test", "--io", word)
    assert (said.code, ran[0]) == (2, []) and "error[TW6001]" in said.err and f"--place-io {word}" in said.err


def test_a_file_with_such_a_name_is_a_file(run: Any, model: Path, ran: Ran, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    np.savez(tmp_path / "vectors.npz", **{"set0/in/x": np.ones((2, 8), np.float32)})
    (tmp_path / "vectors.npz").rename("user")
    assert run("validate", model, "-t", "cluster-test", "--io", "user").code == 0
    assert len(ran[0]) == 1


@pytest.mark.parametrize("strict", [False, True])
def test_warnings_are_said_and_with_strict_refused_before_anything_runs(
    run: Any, model: Path, ran: Ran, strict: bool
) -> None:
    limits = ("--pool", "l2:1M", "--pool", "l1:64K", "--pool", "flash:16,ro,soft")
    said = run("validate", model, "-t", "cluster-test", *limits, *(["--strict"] if strict else []))
    assert (said.code, len(ran[0])) == ((2, 0) if strict else (0, 1)), said.err
    before, running, _ = said.err.partition("running")
    assert "warning[TW50" in before and bool(running) is not strict


@pytest.mark.parametrize("flag", ["--json", "--trace"])
def test_a_file_that_cannot_be_written_is_said_before_anything_runs(run: Any, model: Path, ran: Ran, flag: str) -> None:
    said = run("validate", model, "-t", "cluster-test", flag, model / "below" / "a.json")
    assert (said.code, ran[0]) == (2, []) and "error[TW1107]" in said.err


def test_a_note_about_where_inputs_live_has_this_commands_flag(
    run: Any, model: Path, ran: Ran, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--io` is the file of vectors here."""
    del ran
    note = Diagnostic(code="TW5039", severity="note", message="m", fix=("--io user     fits",))
    monkeypatch.setattr(Deployment, "diagnostics", (note,))
    assert "  try:  --place-io user     fits" in run("validate", model, "-t", "cluster-test", "--sets", "1").err
