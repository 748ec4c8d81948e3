"""The runner `serial` against the firmware itself, built for this machine: outputs, counts, lost and changed bytes,
resets, and firmware of something else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tilewright.errors import TilewrightError
from tilewright.ir.programs.runner import Job
from tilewright.runners.serial_line.serial_runner import SerialRunner
from tilewright.runners.serial_line.serial_wire import Wire

pytestmark = pytest.mark.slow


def serial(opened: Callable[[str], Wire]) -> SerialRunner:
    return SerialRunner(port="here", opened=opened, ask_seconds=0.2)


def check_outputs(toy: Any, job: Job, outputs: Any) -> None:
    assert len(outputs) == len(job.input_sets)
    for given, got in zip(job.input_sets, outputs, strict=True):
        np.testing.assert_array_equal(got["scores"], toy.expected(toy.graph(), given["mfcc:0"]))


@pytest.mark.parametrize("job", ["pool", "user"], indirect=True)
def test_outputs_and_counts_come_from_the_board(toy: Any, job: Job, boards: Any, tmp_path: Path) -> None:
    result = serial(boards()).run(job, tmp_path)
    check_outputs(toy, job, result.outputs)
    assert result.kind == "measured"
    assert result.counts == {"cycles": 1000, "microseconds": 1000}
    assert list(result.step_counts) == [step.name for step in job.plan.tiled.scheduled.steps]
    assert all(counts == {"cycles": 1000, "microseconds": 1000} for counts in result.step_counts.values())


@pytest.mark.parametrize("how", ["lost", "changed", "doubled"])
def test_bytes_that_get_lost_are_asked_for_again(toy: Any, job: Job, boards: Any, tmp_path: Path, how: str) -> None:
    hit = 0

    def lost(_number: int, byte: int) -> bytes:
        nonlocal hit
        hit += 1
        if hit % 77:
            return bytes([byte])
        return {"lost": b"", "changed": bytes([byte ^ 0x10]), "doubled": bytes([byte, byte])}[how]

    result = serial(boards(lost=lost)).run(job, tmp_path)
    check_outputs(toy, job, result.outputs)
    assert result.counts["cycles"] == 1000  # asked again, not computed again


@pytest.mark.parametrize("before", [9, 60, 80])
def test_a_reset_board_begins_again(toy: Any, job: Job, boards: Any, tmp_path: Path, before: int) -> None:
    check_outputs(toy, job, serial(boards(resets=[before])).run(job, tmp_path).outputs)


def test_a_board_that_is_always_reset_is_given_up(job: Job, boards: Any, tmp_path: Path) -> None:
    with pytest.raises(TilewrightError) as refused:
        serial(boards(resets=list(range(40, 4000, 25)))).run(job, tmp_path)
    assert refused.value.code in {"TW7134", "TW7132"}


def test_firmware_of_another_plan_is_refused(toy: Any, job: Job, boards: Any, tmp_path: Path) -> None:
    other = replace(job, plan=replace(job.plan, plan_id=job.plan.plan_id + 1))
    with pytest.raises(TilewrightError) as refused:
        serial(boards()).run(other, tmp_path)
    assert refused.value.code == "TW7133"


def test_a_dumb_line_is_no_board(job: Job, boards: Any, tmp_path: Path) -> None:
    runner = replace(serial(boards(lost=lambda _number, _byte: b"")), ask_seconds=0.01)
    with pytest.raises(TilewrightError) as refused:
        runner.run(job, tmp_path)
    assert refused.value.code == "TW7132"


def test_a_port_and_a_run_without_traces_are_needed(job: Job, boards: Any, tmp_path: Path) -> None:
    with pytest.raises(TilewrightError) as refused:
        SerialRunner().run(job, tmp_path)
    assert refused.value.code == "TW7131"
    with pytest.raises(TilewrightError) as refused:
        serial(boards()).run(replace(job, trace=True), tmp_path)
    assert refused.value.code == "TW7137"
