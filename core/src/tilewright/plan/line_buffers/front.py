"""Knows the front of one network on one memory: bytes against cycles, what each point costs and what to type for it.
Does not know how steps are computed row by row (`choice`), nor how the front is shown.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from tilewright.ir.machines.platform import Platform
from tilewright.ir.plans.stages import Allocated, Bound
from tilewright.plan.line_buffer_bound import computes_alone, line_buffers_possible
from tilewright.plan.line_buffers.candidates import Rebind, line_buffer_candidates
from tilewright.plan.line_buffers.choice import BALANCED, less_scratch_pays, planned_well, with_line_buffers
from tilewright.plan.line_buffers.plan_costs import cycle_ratio
from tilewright.plan.proposals.line_buffered_plan import LineBufferedPlan
from tilewright.plan.proposals.other_kernels import is_other
from tilewright.plan.proposals.planner import Optimize, Planner, ram_bytes

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


def memory_front(
    planner: Planner, plan: Allocated, bound: Bound, rebind: Rebind | None, least: Allocated | None = None
) -> tuple[FrontPoint, ...]:
    """From the fastest to the least memory. One point where there is nothing to choose, and none where cores share a
    step or tiles are copied: what one core takes in one piece says nothing there. `bound` has the fastest kernels;
    `least` is the plan of least memory where kernels of less scratch take less than those of `plan`.
    """
    if not computes_alone(bound.platform):
        return ()
    result = [_point(plan, chosen=True)]
    if not line_buffers_possible(planner, bound.platform):
        return tuple(result)
    start, changed = plan, is_other(plan.tiled.scheduled.bound, bound)
    by_rows = any(region.line_buffers for region in plan.tiled.regions)
    if (by_rows or changed) and planner.optimize != "speed" and not planner.pins.streams_io:
        layers = planner.best(bound)
        start = layers if changed and isinstance(layers, Allocated) else plan
        fastest = with_line_buffers(replace(planner, optimize="speed"), layers)
        result += [_point(fastest)] if isinstance(fastest, Allocated) else []
    for way in _worth_planning(line_buffer_candidates(planner, start.tiled.scheduled, rebind)):
        _, answer = planned_well(replace(planner, optimize="ram"), way, bound.platform)
        result += [_point(answer)] if isinstance(answer, Allocated) else []
    last = () if least is None else (_point(least),)
    return _told(_best((*result, *last)), bound.platform, last)


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
    result = list[FrontPoint]()
    for point in sorted(points, key=lambda point: (point.cycle_ratio, point.ram_bytes, not point.chosen)):
        if point.chosen or not result or point.ram_bytes < min(other.ram_bytes for other in result):
            result.append(point)
    return result


def _pays(point: FrontPoint, others: Sequence[FrontPoint], optimize: Optimize) -> bool:
    """Whether it is taken rather than the smallest of the others."""
    plan = min(others, key=lambda other: other.ram_bytes)
    return less_scratch_pays((point.ram_bytes, point.cycle_ratio), (plan.ram_bytes, plan.cycle_ratio), optimize)


def _told(
    points: Sequence[FrontPoint], platform: Platform, lean: Collection[FrontPoint] = ()
) -> tuple[FrontPoint, ...]:
    """With what to type for each; `lean` are those with kernels of less scratch."""
    fast = [point for point in points if point not in lean]
    wanted = [point for point in points if point not in lean or _pays(point, fast, "ram")]
    least = min(wanted, key=lambda point: point.ram_bytes)
    balanced = [point for point in wanted if 1 + point.cycle_ratio <= BALANCED]
    middle = min(balanced, key=lambda point: point.ram_bytes, default=least)
    memories = [memory.name for memory in platform.of_kind("ram")]

    def flags(point: FrontPoint) -> str:
        if point.chosen:
            return ""
        if point is least:
            return "--optimize ram"
        if point is middle:
            return "--optimize balanced"
        return f"--memory {memories[0]}={point.ram_bytes}" if len(memories) == 1 else ""

    return tuple(replace(point, flags=flags(point)) for point in points)
