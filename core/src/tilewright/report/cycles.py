"""Knows how cycles are told: as time on a clock, and as a front of bytes against cycles (in a report, as a table and as
a line of a check). Does not know who counted cycles, nor how the front is found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tilewright.config.clock import clock_text
from tilewright.report.plain_text import Part, Table

if TYPE_CHECKING:
    from tilewright.plan.line_buffers.front import FrontPoint

_WORTH_SAYING = 0.9  # of the plan's bytes, at most
_MOSTLY_ENDS = 0.5  # of them, at least; and so many
_FEWEST_BYTES = 1024


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
    """`31,400 instructions, 53,520 cycles, 0.67 ms an inference at 80 MHz (estimate)`; instructions only where the
    target knows them; "" where a report says nothing of cycles.
    """
    cycles = report.get("cycles")
    if not cycles:
        return ""
    executed = f"{report['instructions']['total']:,} instructions, " if "instructions" in report else ""
    counted = f"{executed}{cycles['total']:,} cycles"
    return f"{counted}, {time}" if (time := time_text(report)) else f"{counted} an inference ({cycles['kind']})"


def step_time(step: Mapping[str, Any], report: Mapping[str, Any]) -> str:
    """Milliseconds of one step, where the report has a clock: else ""."""
    time = report.get("time")
    return f"{milliseconds(step['cycles']['total'], time['clock_hz']):.3f}" if time else ""


def front_of(points: Sequence[FrontPoint]) -> list[dict[str, Any]]:
    """For `report.json`: cycles as a percentage more than the fastest kernels take layer by layer."""
    return [
        {
            "ram_bytes": point.ram_bytes,
            "more_cycles_percent": _percent(point),
            "flags": point.flags,
            "chosen": point.chosen,
            "asks": point.asks,
        }
        for point in points
    ]


def front_table(report: Mapping[str, Any]) -> tuple[Part, ...]:
    """For a terminal; nothing where there is nothing to choose, and what to type where nobody has looked."""
    if command := front_command(report):
        return (f"memory against cycles: {command}",)
    points = _not_beaten(report["front"])
    if len(points) < 2:
        return ()
    rows = [("RAM", "cycles", "with")]
    rows += [
        (f"{point['ram_bytes']:,} B", f"{point['more_cycles_percent']:+.1f} %", point_text(point)) for point in points
    ]
    return "memory against cycles over layer by layer (estimates)", Table(rows=rows, right=(0, 1), indent=2)


def _not_beaten(points: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Without those that another one beats in all that is printed, and asks nothing more for; this plan stays."""

    def beats(other: Mapping[str, Any], point: Mapping[str, Any]) -> bool:
        shown, least = ((each["ram_bytes"], each["more_cycles_percent"]) for each in (point, other))
        asks = {"", point.get("asks", "")}
        return least != shown and least[0] <= shown[0] and least[1] <= shown[1] and other.get("asks", "") in asks

    return [point for point in points if point["chosen"] or not any(beats(other, point) for other in points)]


def no_front(report: Mapping[str, Any]) -> str:
    """What is said instead of a table where there is nothing to choose."""
    if report["front"]:
        return "memory against cycles: this plan alone; none was found that takes less of one and no more of the other"
    target = report["target"]["name"]
    return (
        f"memory against cycles: on target '{target}' cores share steps, or tiles are copied, and nothing is computed "
        "row by row; `tilewright sweep` with several --memory NAME=BYTES compares plans"
    )


def front_command(report: Mapping[str, Any]) -> str:
    """The command that shows the front of a report that was made without it; "" where it is there."""
    return "" if "front" in report else f"tilewright check MODEL --target {report['target']['name']} --front"


def point_text(point: Mapping[str, Any]) -> str:
    """What to type for a point of a report."""
    flags = "this plan" if point["chosen"] else point["flags"] or "limits of several memories"
    return f"{flags}: {point['asks']}" if point.get("asks") else flags


def less_memory(points: Sequence[FrontPoint], typed: str) -> Iterator[str]:
    """What a check says where less memory is to be had: bytes and cycles of this plan and of others, all over the same,
    then what to type. `typed` is what was, as `tilewright check net.onnx --target generic`.
    """
    most = _WORTH_SAYING * max((point.ram_bytes for point in points if point.chosen), default=0)
    smaller = [point for point in points if point.ram_bytes <= most and point.flags.startswith("--optimize")]
    if not smaller:
        return
    plan = next(point for point in points if point.chosen)
    chosen, *others = (f"{point.ram_bytes:,} B at {_percent(point):+.1f} %" for point in (plan, *smaller))
    yield f"fits in {chosen}; row by row in {', '.join(others)} (cycles over layer by layer, estimates):"
    yield from (f"  {typed} {point.flags}" for point in smaller)


def ends_hint(report: Mapping[str, Any], typed: str) -> Iterator[str]:
    """Where to look when inputs or outputs are most of a plan; nothing where they are not, or cannot be
    elsewhere. `typed` as in `less_memory`.
    """
    kinds = {kind: _bytes_of(report, kind) for kind in ("input", "output")}
    kind, size = max(kinds.items(), key=lambda item: item[1])
    used = sum(pool["used_bytes"] for pool in report["pools"] if pool["kind"] != "const")
    if report.get("front") and size >= max(_MOSTLY_ENDS * used, _FEWEST_BYTES):
        yield f"{kind}s are {size:,} B of that; what it takes where they stay with the application, or pass in rows:"
        yield f"  {typed} --front"


def _bytes_of(report: Mapping[str, Any], kind: str) -> int:
    return sum(buffer["size_bytes"] for buffer in report["buffers"] if buffer["kind"] == kind)


def _percent(point: FrontPoint) -> float:
    """Cycles more than the fastest kernels take layer by layer; 0.0 and not -0.0."""
    return round(100 * point.cycle_ratio, 1) + 0.0
