"""Knows how the front of bytes against cycles is told: in a report, as a table, and as a line of a check.
Does not know how it is found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tilewright.plan.line_buffers.front import FrontPoint
from tilewright.report.table import Part, Table

_WORTH_SAYING = 0.9  # of the plan's bytes, at most


def front_of(points: Sequence[FrontPoint]) -> list[dict[str, Any]]:
    """For `report.json`: cycles as a percentage more than the fastest kernels take layer by layer."""
    return [
        {
            "ram_bytes": one.ram_bytes,
            "more_cycles_percent": _percent(one),
            "flags": one.flags,
            "chosen": one.chosen,
        }
        for one in points
    ]


def front_table(report: Mapping[str, Any]) -> tuple[Part, ...]:
    """For a terminal; nothing where there is nothing to choose, and what to type where nobody has looked."""
    if asking := what_to_ask(report):
        return (f"memory against cycles: {asking}",)
    points = report["front"]
    if len(points) < 2:
        return ()
    rows = [("RAM", "cycles", "with")]
    rows += [(f"{one['ram_bytes']:,} B", f"{one['more_cycles_percent']:+.1f} %", told(one)) for one in points]
    return "memory against cycles over layer by layer (estimates)", Table(rows=rows, right=(0, 1), indent=2)


def what_to_ask(report: Mapping[str, Any]) -> str:
    """The command that shows the front of a report that was made without it; "" where it is there."""
    return "" if "front" in report else f"tilewright check MODEL --target {report['target']['name']} --front"


def told(point: Mapping[str, Any]) -> str:
    """What to type for a point of a report."""
    return "this plan" if point["chosen"] else point["flags"] or "limits of several memories"


def less_memory(points: Sequence[FrontPoint], typed: str) -> Iterator[str]:
    """What a check says where less memory is to be had: bytes and cycles of this plan and of others, all over the same,
    then what to type. `typed` is what was, as `tilewright check net.onnx --target generic`.
    """
    least = _WORTH_SAYING * max((one.ram_bytes for one in points if one.chosen), default=0)
    named = [one for one in points if one.ram_bytes <= least and one.flags.startswith("--optimize")]
    if not named:
        return
    plan = next(one for one in points if one.chosen)
    here, *ways = (f"{one.ram_bytes:,} B at {_percent(one):+.1f} %" for one in (plan, *named))
    yield f"fits in {here}; row by row in {', '.join(ways)} (cycles over layer by layer, estimates):"
    yield from (f"  {typed} {one.flags}" for one in named)


def _percent(one: FrontPoint) -> float:
    """Cycles more than the fastest kernels take layer by layer; 0.0 and not -0.0."""
    return round(100 * one.cycle_ratio, 1) + 0.0
