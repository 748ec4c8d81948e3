"""Knows the front of one network on one memory: bytes against cycles, what each point costs and what to type for it.
Does not know how steps are computed row by row (`choice`), nor how the front is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tilewright.ir.machines.platform import Platform
from tilewright.ir.plans.stages import Allocated, Bound
from tilewright.plan.line_buffer_bound import computes_alone, line_buffers_possible
from tilewright.plan.line_buffers.candidates import Rebind, line_buffer_candidates
from tilewright.plan.line_buffers.choice import BALANCED, planned_well, with_line_buffers
from tilewright.plan.line_buffers.plan_costs import cycle_ratio
from tilewright.plan.proposals.line_buffered_plan import LineBufferedPlan
from tilewright.plan.proposals.planner import Planner, ram_bytes

_MOST_POINTS = 8  # of ways by rows; all are planned


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontPoint:
    """A plan: bytes of RAM, exact, and cycles more than the fastest kernels take in one piece, a part of these; an
    estimate. `flags` lead to it, or to a faster one in as many bytes; "" where nothing has to be typed, or can be.
    `asks`: what the application does for it that it does not do for the chosen plan; "" for nothing.
    """

    ram_bytes: int
    cycle_ratio: float
    flags: str = ""
    chosen: bool = False  # the plan that was asked for
    asks: str = ""


def memory_front(planner: Planner, plan: Allocated, bound: Bound, rebind: Rebind | None) -> tuple[FrontPoint, ...]:
    """From the fastest to the least memory. One point where there is nothing to choose, and none where cores share a
    step or tiles are copied: what one core takes in one piece says nothing there.
    """
    if not computes_alone(bound.platform):
        return ()
    found = [_point(plan, chosen=True)]
    if not line_buffers_possible(planner, bound.platform):
        return tuple(found)
    by_rows = any(region.line_buffers for region in plan.tiled.regions)
    if by_rows and planner.optimize != "speed" and not planner.pins.streams_io:
        fastest = with_line_buffers(replace(planner, optimize="speed"), planner.best(bound))
        found += [_point(fastest)] if isinstance(fastest, Allocated) else []
    for way in _worth_planning(line_buffer_candidates(planner, plan.tiled.scheduled, rebind)):
        _, answer = planned_well(replace(planner, optimize="ram"), way, bound.platform)
        found += [_point(answer)] if isinstance(answer, Allocated) else []
    return _told(_best(found), bound.platform)


def _point(plan: Allocated, *, chosen: bool = False) -> FrontPoint:
    return FrontPoint(ram_bytes=ram_bytes(plan), cycle_ratio=cycle_ratio(plan), chosen=chosen)


def _worth_planning(ways: Sequence[LineBufferedPlan]) -> list[LineBufferedPlan]:
    """Those than which no faster one takes less; of many, some at even distances, and those that flags name."""
    front = list[LineBufferedPlan]()
    for way in ways:
        if not front or way.size_bytes < front[-1].size_bytes:
            front.append(way)
    if len(front) <= _MOST_POINTS:
        return front
    kept = {round(at * (len(front) - 1) / (_MOST_POINTS - 2)) for at in range(_MOST_POINTS - 1)}
    kept |= {max((at for at, way in enumerate(front) if way.cycle_ratio <= BALANCED), default=0)}
    return [front[at] for at in sorted(kept)]


def _best(points: Sequence[FrontPoint]) -> list[FrontPoint]:
    """Without those that another beats; the plan that was asked for always stays."""
    found = list[FrontPoint]()
    for one in sorted(points, key=lambda one: (one.cycle_ratio, one.ram_bytes, not one.chosen)):
        if one.chosen or not found or one.ram_bytes < min(other.ram_bytes for other in found):
            found.append(one)
    return found


def _told(points: Sequence[FrontPoint], platform: Platform) -> tuple[FrontPoint, ...]:
    """With what to type for each."""
    least = min(points, key=lambda one: one.ram_bytes)
    balanced = [one for one in points if 1 + one.cycle_ratio <= BALANCED]
    middle = min(balanced, key=lambda one: one.ram_bytes, default=least)
    memories = [memory.name for memory in platform.of_kind("ram")]

    def flags(one: FrontPoint) -> str:
        if one.chosen:
            return ""
        if one is least:
            return "--optimize ram"
        if one is middle:
            return "--optimize balanced"
        return f"--memory {memories[0]}={one.ram_bytes}" if len(memories) == 1 else ""

    return tuple(replace(one, flags=flags(one)) for one in points)
