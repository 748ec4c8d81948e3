"""Knows the runner `serial`: a network on a board that has the firmware of the exporter `bench`.
Does not know how firmware gets there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from tilewright import __version__
from tilewright.errors import toolchain_error, unsupported_error, usage_error
from tilewright.ir.log_span import INFO, log_span
from tilewright.ir.plans.plan_id import plan_digest
from tilewright.ir.programs.runner import Job, RunResult
from tilewright.runners.harness import Harness, decode_outputs, make_harness
from tilewright.runners.serial_line.board_link import BoardFacts, BoardLink, BoardReset
from tilewright.runners.serial_line.serial_wire import PORT_HINT, Wire, missing_pyserial, open_wire

RESETS = 3  # times that a board may begin again
MICROSECONDS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SerialRunner:
    """Runs on a board; what it counts is what the board's own counter says."""

    name: str = "serial"
    summary: str = "a board on a serial line, --on serial:PORT[@BAUD], with the firmware of --emit bench"
    counts: tuple[str, ...] = ("cycles", "microseconds")
    port: str = ""
    ask_seconds: float = 1.0
    run_seconds: float = 60.0
    opened: Callable[[str], Wire] = open_wire

    def at(self, port: str) -> SerialRunner:
        """The same, on that line."""
        return replace(self, port=port)

    def available(self) -> str | None:
        """None, or what is missing."""
        return missing_pyserial()

    def run(self, job: Job, _folder: Path) -> RunResult:
        """Each set of inputs once, as in the application; then the first one again, step by step.

        TilewrightError: TW7130 to TW7135 of the line, the board and the firmware; TW7137 (exit 4): what every step
        wrote is not sent over a line.
        """
        if not self.port:
            raise usage_error("TW7131", "a port is missing", fix=(PORT_HINT.format(self.name),))
        if job.trace:
            fix = ("tilewright bench --on serial:PORT compares the outputs",)
            raise unsupported_error("TW7137", "what every step wrote is not sent over a serial line", fix=fix)
        harness = make_harness(job)
        wire = self.opened(self.port)
        try:
            return self._asked(job, harness, BoardLink(wire, ask_seconds=self.ask_seconds))
        finally:
            wire.close()

    def _asked(self, job: Job, harness: Harness, link: BoardLink) -> RunResult:
        for session in range(1, RESETS + 2):
            try:
                with log_span(INFO, "the board's answers"):
                    return self._measured(job, harness, link, session)
            except BoardReset:
                continue
        raise toolchain_error(
            "TW7134", f"the board was reset {RESETS + 1} times while it was asked", fix=("is its supply stable?",)
        )

    def _measured(self, job: Job, harness: Harness, link: BoardLink, session: int) -> RunResult:
        facts = link.hello()
        _demand_same(facts, job)
        size = len(harness.inputs) // max(1, harness.sets)
        sets = [harness.inputs[start * size : (start + 1) * size] for start in range(harness.sets)]
        link.begin(session)
        outputs, counts = b"", []
        for content in sets:
            link.write(content)
            counts.append(link.run(by_steps=False, seconds=self.run_seconds))
            outputs += link.outputs(facts.output_bytes)
        link.begin(session)
        link.write(sets[0])
        link.run(by_steps=True, seconds=self.run_seconds)
        every = link.step_counts(facts.steps)
        executed = job.plan.tiled.executed
        steps = enumerate(step.name for step in job.plan.tiled.scheduled.steps)
        return RunResult(
            outputs=decode_outputs(harness, outputs),
            counts=_counted(counts[0], facts),
            step_counts={name: _counted(every[number], facts) for number, name in steps if executed[name] == number},
            kind="measured",
        )


def _counted(count: int, facts: BoardFacts) -> dict[str, int]:
    """Cycles where the board counts those, and the time in any case."""
    time = {"microseconds": round(count * MICROSECONDS / facts.hertz)} if facts.hertz else {}
    return ({"cycles": count} if facts.unit == "cycles" else {}) | time


def _demand_same(facts: BoardFacts, job: Job) -> None:
    if facts.digest != plan_digest(job.plan, __version__):
        raise toolchain_error(
            "TW7133",
            "the firmware on the board is of another network, another plan or another version",
            fix=("compile with the same flags and --emit bench, build, and flash that",),
        )
