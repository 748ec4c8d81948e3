"""What a runner is asked and answers: whatever can say what is missing and run a job is one, and answers compare."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tilewright.builtin import tilewright_runners
from tilewright.emit import EmitOptions
from tilewright.ir.programs.runner import Job, Runner, RunResult, Timeline, TimeSpan, counted_units


class Still:
    name, summary = "still", "runs nothing"

    def available(self) -> str | None:
        return "install it"

    def run(self, job: Job, folder: Path) -> RunResult:
        del job, folder
        return RunResult(outputs=())


def test_whatever_has_the_four_is_a_runner() -> None:
    assert isinstance(Still(), Runner) and not isinstance(object(), Runner)
    runners = tilewright_runners()
    assert all(isinstance(runner, Runner) for runner in runners) and {"host", "twin"} <= {one.name for one in runners}


def test_a_runner_may_say_what_it_counts() -> None:
    units = {runner.name: counted_units(runner) for runner in tilewright_runners()}
    assert (units["host"], units["twin"]) == ((), ("cycles",))
    assert counted_units(Still()) is None


def test_jobs_and_answers_compare_without_their_arrays(toy: Any) -> None:
    """Arrays have no truth value."""
    program = toy.program(toy.graph())
    artifact = toy.artifact(program, EmitOptions())
    one, other = (
        Job(artifact=artifact, plan=program.allocated, prefix="toy", input_sets=({"x": np.full(2, value)},))
        for value in (1, 2)
    )
    assert one == other
    assert RunResult(outputs=({"y": np.zeros(2)},)) == RunResult(outputs=({"y": np.ones(2)},))
    assert RunResult(outputs=(), counts={"cycles": 1}) != RunResult(outputs=(), counts={"cycles": 2})


def test_an_answer_that_counts_nothing_says_so() -> None:
    result = RunResult(outputs=())
    assert (result.kind, dict(result.counts), result.timeline, result.values) == ("none", {}, None, ())
    span = TimeSpan(track="cores", name="a", step="a", begin=0, end=3)
    assert Timeline(spans=(span,)).levels == () and span.details == {}
