"""Knows how cycles become time, and how that is said. Does not know who counted them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tilewright.config.clock import clock_text


def milliseconds(cycles: float, clock_hz: int) -> float:
    """Of so many cycles, rounded to nanoseconds."""
    return round(1000 * cycles / clock_hz, 6)


def time_text(report: Mapping[str, Any]) -> str:
    """`0.67 ms an inference at 80 MHz (estimate)`; "" where no clock is known."""
    time = report.get("time")
    if not time:
        return ""
    return f"{time['milliseconds']:,.3g} ms an inference at {clock_text(time['clock_hz'])} ({time['kind']})"


def cost_text(report: Mapping[str, Any]) -> str:
    """`53,520 cycles, 0.67 ms an inference at 80 MHz (estimate)`; "" where a report says nothing of cycles."""
    cycles = report.get("cycles")
    if not cycles:
        return ""
    counted = f"{cycles['total']:,} cycles"
    return f"{counted}, {said}" if (said := time_text(report)) else f"{counted} an inference ({cycles['kind']})"


def step_time(step: Mapping[str, Any], report: Mapping[str, Any]) -> str:
    """Milliseconds of one step, where the report has a clock: else ""."""
    time = report.get("time")
    return f"{milliseconds(step['cycles']['total'], time['clock_hz']):.3f}" if time else ""
