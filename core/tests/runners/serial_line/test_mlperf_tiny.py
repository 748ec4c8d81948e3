"""The runner `mlperf-tiny` against firmware built for this machine, and the words of that firmware."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tilewright.errors import TilewrightError
from tilewright.ir.programs.runner import Job
from tilewright.runners.serial_line.mlperf_tiny import MlperfTinyRunner
from tilewright.runners.serial_line.serial_wire import Wire

pytestmark = pytest.mark.slow


def test_mlperf_tiny_measures_the_mean_of_ten(job: Job, boards: Any, tmp_path: Path) -> None:
    result = MlperfTinyRunner(port="here", opened=boards()).run(job, tmp_path)
    assert result.counts["microseconds"] == pytest.approx(3000, abs=200)  # begin, end, and the clock in between
    assert result.outputs == ()


def test_mlperf_tiny_words(toy: Any, job: Job, program: Path) -> None:
    x = job.input_sets[0]["mfcc:0"]
    expected = toy.expected(toy.graph(), x)
    words = (
        "name",
        "profile",
        "timestamp",
        "db load 10",
        f"db {x.tobytes().hex()}",
        "infer 2 1",
        "results",
        "nonsense",
    )
    asked = "".join(f"{word}%" for word in words)
    said = subprocess.run([program], input=asked.encode(), capture_output=True, check=True).stdout.decode("ascii")
    lines = said.split("\r\n")
    assert lines[:1] == ["m-timestamp-mode-performance"]
    assert lines.count("m-ready") == len(words) + 1
    for line in (
        "m-init-done",
        "m-name-dut-[tilewright]",
        "m-profile-[ULPMark for tinyML Firmware V0.0.1]",
        "m-model-[toy]",
        "m-[Expecting 10 bytes]",
        "m-load-done",
        "m-warmup-start-1",
        "m-warmup-done",
        "m-infer-start-2",
        "m-infer-done",
        "e-[Unknown command: nonsense]",
    ):
        assert lines.count(line) == 1, line
    results = f"m-results-[{','.join(str(value) for value in expected.ravel())}]"
    assert lines.count(results) == 2


def test_mlperf_tiny_loads_again_what_was_lost(job: Job, boards: Any, tmp_path: Path) -> None:
    board = boards(lost=lambda number, byte: b"" if number == 20 and byte != ord("%") else bytes([byte]))
    assert MlperfTinyRunner(port="here", opened=board).run(job, tmp_path).counts["microseconds"] > 0


class Dripping:
    """A line that is read up to each CR, so that an answer is taken for whole before the LF of its line has come."""

    def __init__(self, line: Wire) -> None:
        self.line, self.waiting = line, b""

    def read(self, seconds: float) -> bytes:
        self.waiting = self.waiting or self.line.read(seconds)
        until = self.waiting.find(b"\r") + 1 or len(self.waiting)
        first, self.waiting = self.waiting[:until], self.waiting[until:]
        return first

    def write(self, content: bytes) -> None:
        self.line.write(content)

    def close(self) -> None:
        self.line.close()


def test_ends_of_lines_that_come_late_are_no_part_of_the_next(job: Job, boards: Any, tmp_path: Path) -> None:
    opened = boards()
    runner = MlperfTinyRunner(port="here", opened=lambda port: Dripping(opened(port)))
    assert runner.run(job, tmp_path).counts["microseconds"] > 0


class Odd:
    """A line to firmware that says the same to everything."""

    def __init__(self, said: bytes) -> None:
        self.said = said

    def read(self, seconds: float) -> bytes:
        del seconds
        return self.said

    def write(self, content: bytes) -> None:
        del content

    def close(self) -> None:
        self.said = b""


@pytest.mark.parametrize("said", [b"m-name-x\r\nm-ready\r\n", b"e-[m-name-]\r\nm-ready\r\n"])
def test_what_is_no_such_firmware_is_refused(job: Job, tmp_path: Path, said: bytes) -> None:
    with pytest.raises(TilewrightError) as refused:
        MlperfTinyRunner(port="here", opened=lambda _port: Odd(said)).run(job, tmp_path)
    assert refused.value.code == "TW7138"


def test_a_port_is_needed(job: Job, tmp_path: Path) -> None:
    with pytest.raises(TilewrightError) as refused:
        MlperfTinyRunner().run(job, tmp_path)
    assert refused.value.code == "TW7131"
