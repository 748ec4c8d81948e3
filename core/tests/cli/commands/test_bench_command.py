"""`tilewright bench`: what it counts, of what the rates are made, and that it fails before any work is done."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tilewright.cli.commands.bench_command import TOGETHER, _nested, _step_rows
from tilewright.ir.programs.runner import Job, RunResult
from tilewright.runners.host import HostRunner

pytestmark = pytest.mark.usefixtures("on_cluster")
COUNTS = {"instructions": 640, "instructions.load": 40, "stack_bytes": 96, "code_bytes": 1234}


def counting(
    monkeypatch: pytest.MonkeyPatch, counts: Mapping[str, int], kind: Any = "measured", of: str = ""
) -> list[Job]:
    """A runner that computes nothing; the jobs that it was given."""
    jobs = []

    def run(job: Job, folder: Path) -> RunResult:
        del folder
        jobs.append(job)
        return RunResult(outputs=({"y": np.zeros((2, 4), np.float32)},), counts=counts, kind=kind, model=of)

    runner = SimpleNamespace(name="counter", run=run, available=lambda: None)
    monkeypatch.setattr("tilewright.validation.runner_choice.ready_runner", lambda *_: runner)
    return jobs


@pytest.mark.slow
def test_counts_are_those_of_one_inference_on_the_inputs_of_the_seed(
    monkeypatch: pytest.MonkeyPatch, run: Any, model: Path
) -> None:
    jobs = counting(monkeypatch, COUNTS)
    said = run("bench", model, "-t", "cluster-test", "--seed", "5", "--json", "-")
    assert said.code == 0, said.err
    found = json.loads(said.out)
    assert (found["runner"], found["kind"], found["macs"]) == ("counter", "measured", 64)
    assert (found["instructions"], found["instructions_by_class"]) == (640, {"load": 40})
    assert sum(step["macs"] for step in found["steps"]) == 64
    run("bench", model, "-t", "cluster-test", "--seed", "5")
    run("bench", model, "-t", "cluster-test", "--seed", "6")
    first, again, other = (job.input_sets[0]["x"] for job in jobs)
    assert [len(job.input_sets) for job in jobs] == [1, 1, 1]
    assert np.array_equal(first, again) and not np.array_equal(first, other)


def test_the_table_ends_with_the_whole_run(monkeypatch: pytest.MonkeyPatch, run: Any, model: Path) -> None:
    counting(monkeypatch, COUNTS)
    lines = run("bench", model, "-t", "cluster-test").out.splitlines()
    (whole,) = (line for line in lines if line.startswith("all"))
    assert whole.split() == ["all", "64", "640", "96", "10.00"]  # 640 instructions over 64 multiply-accumulates
    assert lines[-1].endswith("on counter: measured, 1,234 B of code")


@pytest.mark.parametrize(("counts", "milliseconds"), [({"cycles": 2_000}, 0.25), (COUNTS, None)])
def test_a_clock_says_how_long_cycles_take_and_nothing_of_instructions(
    monkeypatch: pytest.MonkeyPatch, run: Any, model: Path, counts: dict[str, int], milliseconds: float | None
) -> None:
    counting(monkeypatch, counts, "measured")
    found = json.loads(run("bench", model, "-t", "cluster-test", "--clock", "8MHz", "--json", "-").out)
    assert found.get("time", {}).get("milliseconds") == milliseconds
    assert found.get("time", {}).get("kind", "measured") == "measured"


def test_cycles_that_are_modelled_are_called_so(monkeypatch: pytest.MonkeyPatch, run: Any, model: Path) -> None:
    counting(monkeypatch, {"instructions": 640, "modelled_cycles": 1_000}, of="2 wait states")
    said = run("bench", model, "-t", "cluster-test", "--clock", "8MHz")
    header, *lines = said.out.splitlines()
    assert header.split()[3:5] == ["instructions", "modelled_cycles"]
    (whole,) = (line for line in lines if line.startswith("all"))
    assert whole.split() == ["all", "64", "640", "1,000", "10.00"]
    assert lines[-2:] == ["cycles are modelled: 2 wait states", "0.125 ms an inference at 8 MHz (modelled)"]


def test_a_runner_that_counts_nothing_is_refused(monkeypatch: pytest.MonkeyPatch, run: Any, model: Path) -> None:
    counting(monkeypatch, {}, "none")
    said = run("bench", model, "-t", "cluster-test")
    assert said.code == 4 and "error[TW7011]" in said.err and "tilewright doctor" in said.err


def test_a_runner_that_says_so_is_refused_before_anything_is_built(
    monkeypatch: pytest.MonkeyPatch, run: Any, on_cluster: None, model: Path
) -> None:
    monkeypatch.setattr("tilewright.validation.runner_choice.ready_runner", lambda *_: HostRunner())
    monkeypatch.setattr("tilewright.deployment.Deployment.compile", lambda _: pytest.fail("it was compiled"))
    said = run("bench", model, "-t", "cluster-test")
    assert said.code == 4
    assert "error[TW7011]: runner 'host' counts nothing" in said.err


@pytest.mark.parametrize("flag", ["--json", "--trace"])
def test_a_file_that_cannot_be_written_is_said_before_anything_runs(
    monkeypatch: pytest.MonkeyPatch, run: Any, model: Path, flag: str
) -> None:
    jobs = counting(monkeypatch, COUNTS)
    said = run("bench", model, "-t", "cluster-test", flag, model / "below" / "a.json")
    assert (said.code, jobs) == (2, []) and "error[TW1107]" in said.err


@pytest.mark.parametrize("strict", [False, True])
def test_warnings_are_shown_and_errors_where_they_shall_be(
    monkeypatch: pytest.MonkeyPatch, run: Any, model: Path, strict: bool
) -> None:
    jobs = counting(monkeypatch, COUNTS)
    limits = ("--pool", "l2:1M", "--pool", "l1:64K", "--pool", "flash:16,ro,soft")
    said = run("bench", model, "-t", "cluster-test", *limits, *(["--strict"] if strict else []))
    assert "warning[TW50" in said.err
    assert (said.code, len(jobs)) == ((2, 0) if strict else (0, 1)), said.err


def test_steps_of_a_group_are_counted_together_with_the_last() -> None:
    def step(number: int, group: str, macs: int, cycles: int) -> dict[str, Any]:
        return {"id": number, "name": f"n{number}", "kernel": "k", "macs": macs, "group": group, "cycles": cycles}

    steps = [step(0, "a", 10, 30), step(1, "b", 4, 7), step(2, "b", 6, 13), step(3, "c", 0, 5)]
    alone, inner, last, nothing = _step_rows(steps, ["cycles"], ["cycles"])
    assert alone[2:5] == ("10", "30", "3.00")
    assert inner[2:5] == ("4", TOGETHER, "")
    assert last[2:5] == ("6", "20", "2.00")  # 7 + 13 cycles over 4 + 6 multiply-accumulates
    assert nothing[2:5] == ("0", "5", "")  # no rate without multiply-accumulates


def test_a_count_of_a_class_is_an_entry_of_its_unit() -> None:
    counts = {"cycles": 9, "cycles.wait": 2, "cycles.copy": 3, "code_bytes": 1}
    assert _nested(counts) == {"cycles": 9, "cycles_by_class": {"wait": 2, "copy": 3}, "code_bytes": 1}
