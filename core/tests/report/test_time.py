"""Time is cycles on a clock, and says that it is an estimate."""

from __future__ import annotations

from tilewright.report.time import cost_text, milliseconds, step_time, time_text

REPORT = {"time": {"clock_hz": 80_000_000, "milliseconds": 12.5, "kind": "estimate"}}
STEP = {"cycles": {"total": 80_000.0}}


def test_cycles_on_a_clock() -> None:
    assert milliseconds(80_000, 80_000_000) == 1.0
    assert milliseconds(1, 3_000_000_000) == 0.0


def test_it_is_said_with_its_clock_and_its_kind() -> None:
    assert time_text(REPORT) == "12.5 ms an inference at 80 MHz (estimate)"
    assert step_time(STEP, REPORT) == "1.000"


def test_cycles_are_said_with_and_without_a_clock() -> None:
    cycles = {"cycles": {"total": 1_000_000, "kind": "estimate"}}
    assert cost_text(cycles) == "1,000,000 cycles an inference (estimate)"
    assert cost_text({**cycles, **REPORT}) == "1,000,000 cycles, 12.5 ms an inference at 80 MHz (estimate)"
    assert cost_text({}) == ""


def test_nothing_is_said_without_a_clock() -> None:
    assert time_text({}) == step_time(STEP, {}) == ""
