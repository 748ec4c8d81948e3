"""Knows the runner `mlperf-tiny`: any firmware that answers MLPerf Tiny's performance mode on a serial line.
Does not know what runs on the board: TensorFlow Lite Micro answers as well as what is generated here.

The words are those of mlcommons/tiny, benchmark/api/internally_implemented.cpp and submitter_implemented.h
(Apache-2.0): a command ends with '%', an answer with the line `m-ready`; a time is `m-lap-us-MICROSECONDS`, and what
is wrong is `e-[...]`.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tilewright.errors import toolchain_error, unsupported_error, usage_error
from tilewright.ir.programs.runner import Job, RunResult
from tilewright.runners.harness import make_harness
from tilewright.runners.serial_line.serial_wire import PORT_HINT, Wire, missing_pyserial, open_wire

HEX_BYTES = 32  # of a `db`, whose command has 80 letters
WARMUP, TIMES = 1, 10
ATTEMPTS = 5  # to load the inputs over a line that loses bytes
_READY = "m-ready"
_LAP = re.compile(r"m-lap-us-(\d+)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class MlperfTinyRunner:
    """Measures the time of an inference, the mean of some: nothing of steps, and no outputs."""

    name: str = "mlperf-tiny"
    summary: str = "firmware that answers MLPerf Tiny's runner, --on mlperf-tiny:PORT[@BAUD]: the time of an inference"
    counts: tuple[str, ...] = ("microseconds",)
    port: str = ""
    ask_seconds: float = 5.0
    run_seconds: float = 120.0
    opened: Callable[[str], Wire] = open_wire

    def at(self, port: str) -> MlperfTinyRunner:
        """The same, on that line."""
        return replace(self, port=port)

    def available(self) -> str | None:
        """None, or what is missing."""
        return missing_pyserial()

    def run(self, job: Job, _folder: Path) -> RunResult:
        """The first set of inputs. TilewrightError: TW7130 to TW7132 of the line, TW7138 of what the firmware says."""
        if not self.port:
            raise usage_error("TW7131", "a port is missing", fix=(PORT_HINT.format(self.name),))
        if job.trace:
            raise unsupported_error("TW7137", "what every step wrote is not sent over a serial line")
        inputs = make_harness(job).inputs
        size = len(inputs) // max(1, len(job.input_sets))
        wire = self.opened(self.port)
        try:
            self._ask(wire, "name", self.ask_seconds, after="m-name-")  # behind what it says after a reset
            self._load(wire, inputs[:size])
            times = 1 if self._loses_inputs(wire) else TIMES
            said = self._ask(wire, f"infer {times} {WARMUP if times > 1 else 0}", self.run_seconds)
        finally:
            wire.close()
        laps = [int(result[1]) for line in said if (result := _LAP.match(line))]
        if len(laps) != 2:
            raise _wrong("an inference has no beginning or no end", said)
        return RunResult(outputs=(), counts={"microseconds": round((laps[1] - laps[0]) / times)}, kind="measured")

    def _load(self, wire: Wire, content: bytes) -> None:
        """TilewrightError TW7138 when the firmware never has all of it."""
        said: Sequence[str] = ()
        for _ in range(ATTEMPTS if content else 0):
            said = self._ask(wire, f"db load {len(content)}", self.ask_seconds, refused=False)
            for start in range(0, len(content), HEX_BYTES):
                said = self._ask(
                    wire, f"db {content[start : start + HEX_BYTES].hex()}", self.ask_seconds, refused=False
                )
            if "m-load-done" in said:
                return
        if content:
            raise _wrong("the inputs were not loaded", said)

    def _loses_inputs(self, wire: Wire) -> bool:
        """Whether firmware was built to compute each input once (TW_BENCH_KEEP_INPUTS=0)."""
        said = self._ask(wire, "infer 2 0", self.run_seconds, refused=False)
        return any(line.startswith("e-[The inputs are gone") for line in said)

    def _ask(self, wire: Wire, command: str, seconds: float, *, refused: bool = True, after: str = "") -> list[str]:
        """The lines before the `m-ready` that comes `after` a word. TilewrightError TW7132: nothing comes; TW7138: the
        firmware refuses.
        """
        wire.write(f"{command}%".encode("ascii"))
        got, end = b"", time.monotonic() + seconds
        while after.encode() not in got or not got.rstrip().endswith(_READY.encode()):
            left = end - time.monotonic()
            got += wire.read(left) if left > 0 else b""
            if left <= 0:
                details = (f"asked '{command[:40]}', waited {seconds:g} s for '{_READY}'",)
                raise toolchain_error("TW7132", "the board does not answer", details=details)
        lines = got.decode("ascii", "replace").splitlines()  # the end of the line before may be the first of it
        if refused and any(line.startswith("e-[") for line in lines):
            raise _wrong(f"it refuses '{command[:40]}'", lines)
        return lines


def _wrong(what: str, said: Sequence[str]) -> Exception:
    return toolchain_error(
        "TW7138", f"the firmware does not answer as MLPerf Tiny's does: {what}", details=tuple(said[-8:])
    )
