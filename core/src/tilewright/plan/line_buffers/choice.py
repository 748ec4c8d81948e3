"""Knows when steps of a machine with one memory are computed row by row, and which of the ways to do so is taken.
Does not know how such regions are found (`tile/line_buffers/partition`), nor how any plan is made: it asks the planner.

What is asked for decides: `ram` takes the least memory that rows give, `balanced` the least at no more than a tenth
more cycles; kernels that are slower for less scratch are another matter (`plan/least_memory`).
`speed` computes steps together by rows only where nothing else fits, or where inputs and outputs pass in rows: then it
takes the least memory of all that is as fast within a hundredth. An output takes the bytes of what its step reads, row
by row, where that is free.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tilewright.ir.machines.platform import Platform
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.layer import Layers
from tilewright.ir.plans.stages import Allocated, Bound, Tiled
from tilewright.plan.line_buffer_bound import LEAST_SAVED, line_buffers_possible
from tilewright.plan.line_buffers.candidates import (
    MOST_PLANNED,
    Rebind,
    candidates_of,
    line_buffer_candidates,
    order_of,
    overlaid_candidates,
)
from tilewright.plan.line_buffers.kernels import kernels_of_calls
from tilewright.plan.line_buffers.plan_costs import plan_cycles
from tilewright.plan.line_buffers.scratch import kernels_within
from tilewright.plan.proposals.line_buffered_plan import LineBufferedPlan
from tilewright.plan.proposals.other_kernels import slower_kernels
from tilewright.plan.proposals.planner import Optimize, Planner, ram_bytes
from tilewright.plan.proposals.shortfall import PlanFailure, choice_of
from tilewright.schedule import schedule
from tilewright.tile.strategies import WholeTiler

LEAST = 2.0  # times the cycles of layer by layer, at most, that kernels of less scratch may take
PRICE = 5.0  # per cent more cycles for each per cent of memory that these save, at most, where it is more than a tenth
BALANCED = 1.1  # the same, of all that is taken, where some speed is asked for
FREE = 1.01  # the same where speed is asked for
Cost = tuple[int, float]  # bytes, and cycles more than layer by layer, a part of these
_MOST_EXCHANGES = 3  # of kernels for others with less scratch, where it is in the way
_MOST_OVERLAID = 2  # ways that are planned with where speed is asked for


def with_line_buffers(
    planner: Planner, answer: Allocated | tuple[PlanFailure, ...], rebind: Rebind | None = None
) -> Allocated | tuple[PlanFailure, ...]:
    """The plan that is asked for; the answer itself where rows give no better one.

    `rebind`: kernels may be others than those of the answer, where these take a layer in one piece only, or are slower
    for a few columns at a time.
    """
    chosen = _chosen(planner, answer, rebind)
    return _suited(planner, chosen, rebind) if isinstance(chosen, Allocated) and rebind else chosen


def _chosen(
    planner: Planner, answer: Allocated | tuple[PlanFailure, ...], rebind: Rebind | None
) -> Allocated | tuple[PlanFailure, ...]:
    if not isinstance(answer, Allocated):
        return _fitting(planner, answer, rebind)
    if planner.pins.streams_io:
        return _passing(planner, answer, rebind)
    if not line_buffers_possible(planner, answer.tiled.scheduled.bound.platform):
        return answer
    if planner.optimize == "speed":
        # copies of constants were chosen for the room that this plan leaves
        kept = planner.choose_constant_copies or isinstance(planner.tiler, WholeTiler)
        return answer if kept else _overlaid_plan(planner, answer)
    every = line_buffer_candidates(planner, answer.tiled.scheduled, rebind)
    ways = [plan for plan in every if plan.cycle_ratio <= _slowest(planner)]
    return smallest_plan(planner, answer, ways, MOST_PLANNED)


def _suited(planner: Planner, plan: Allocated, rebind: Rebind) -> Allocated:
    """The same regions with the kernels that are fastest for their calls, where that takes no more memory."""
    bound = plan.tiled.scheduled.bound
    kernels = kernels_of_calls(plan, planner.operators, planner.layers or Layers(operators=planner.operators))
    if not kernels:
        return plan
    other = replace(rebind({**_not_fastest(bound), **kernels}), platform=bound.platform, diagnostics=bound.diagnostics)
    if {node.name for node in other.graph.nodes} != {node.name for node in bound.graph.nodes}:
        return plan
    regions = {region.name: region for region in plan.tiled.regions if region.line_buffers}
    decisions = Decisions(order=order_of(plan.tiled.scheduled), in_place=plan.decisions.in_place, tiles=regions)
    answer = planner.attempt(other, decisions.pinned_by(planner.pins))
    if (
        isinstance(answer, PlanFailure)
        or ram_bytes(answer) > ram_bytes(plan)
        or plan_cycles(answer) >= plan_cycles(plan)
    ):
        return plan
    return answer


def faster_line_buffered(planner: Planner, plan: Allocated, misfit: PlanFailure, rebind: Rebind | None) -> Allocated:
    """The plan, or a faster one by rows with the fastest kernels, which do not fit in one piece: that is `misfit`."""
    possible = line_buffers_possible(planner, plan.tiled.scheduled.bound.platform) and planner.optimize == "speed"
    if not possible or isinstance(planner.tiler, WholeTiler) or planner.pins.streams_io:
        return plan
    other = _fitting(planner, (misfit,), rebind)
    return min(plan, other, key=plan_cycles) if isinstance(other, Allocated) else plan


def smallest_plan(planner: Planner, plan: Allocated, candidates: Sequence[LineBufferedPlan], most: int) -> Allocated:
    """Of the plan and the ways what takes least, of equal ways the fastest; so many are planned with at most."""
    platform = plan.tiled.scheduled.bound.platform
    best, least, left = plan, (ram_bytes(plan), 0.0), most
    for way in sorted(candidates, key=lambda candidate: (candidate.size_bytes, candidate.cycle_ratio)):
        if way.size_bytes > least[0] or not left:
            break
        if (way.size_bytes, way.cycle_ratio) >= least:
            continue
        taken, answer = planned_well(planner, way, platform)
        left -= 1
        if isinstance(answer, Allocated) and (ram_bytes(answer), taken.cycle_ratio) < least:
            best, least = answer, (ram_bytes(answer), taken.cycle_ratio)
    return best


def less_scratch_pays(least: Cost, plan: Cost, optimize: Optimize) -> bool:
    """Whether what is asked for takes kernels of less scratch, whose plan has the cost `least`, rather than a `plan`;
    or leaves them to a limit.
    """
    most = {"balanced": BALANCED, "ram": LEAST}.get(optimize, 0.0)
    saved, longer = 1 - least[0] / max(1, plan[0]), (1 + least[1]) / (1 + plan[1]) - 1
    return saved > 0 and 1 + least[1] <= most and longer <= max(BALANCED - 1, PRICE * saved)


def _slowest(planner: Planner) -> float:
    """Times the cycles of layer by layer, at most."""
    return BALANCED if planner.optimize == "balanced" else float("inf")


def _overlaid_plan(planner: Planner, plan: Allocated) -> Allocated:
    """The plan with outputs over what their steps read, where that is free and saves enough."""
    most = ram_bytes(plan) - LEAST_SAVED
    ways = overlaid_candidates(planner, plan.tiled.scheduled, FREE, most) if most > 0 else ()
    best = smallest_plan(planner, plan, ways, _MOST_OVERLAID)
    return best if ram_bytes(best) <= most else plan


def _passing(planner: Planner, plan: Allocated, rebind: Rebind | None) -> Allocated | tuple[PlanFailure, ...]:
    """The plan where inputs or outputs pass in rows. `plan` has them whole: an answer only for pinned tiles."""
    platform = plan.tiled.scheduled.bound.platform
    if not line_buffers_possible(planner, platform):
        return plan
    every = line_buffer_candidates(planner, plan.tiled.scheduled, rebind)
    ways = [candidate for candidate in every if candidate.size_bytes <= _room(plan.tiled)] or list(every)
    if planner.optimize == "speed":
        free = [way for way in ways if 1 + way.cycle_ratio <= FREE * (1 + ways[0].cycle_ratio)]
        ways = [*sorted(free, key=lambda way: (way.size_bytes, way.cycle_ratio)), *ways[len(free) :]]
    else:
        enough = [candidate for candidate in ways if candidate.cycle_ratio <= _slowest(planner)] or ways[:1]
        ways = sorted(enough, key=lambda candidate: (candidate.size_bytes, candidate.cycle_ratio))
    best, misfits = None, list[PlanFailure]()
    for way in ways[:MOST_PLANNED]:
        if best is not None and (planner.optimize == "speed" or ram_bytes(best) <= way.size_bytes):
            break
        _, answer = planned_well(planner, way, platform)
        if isinstance(answer, PlanFailure):
            misfits.append(answer)
        elif best is None or ram_bytes(answer) < ram_bytes(best):
            best = answer
    return best or tuple(misfits)


def _fitting(
    planner: Planner, misfits: tuple[PlanFailure, ...], rebind: Rebind | None
) -> Allocated | tuple[PlanFailure, ...]:
    """The first way that fits: the fastest one, or the smallest where that is asked for. Where none does with the
    fastest kernels, the fastest of those that do when kernels whose scratch is in the way take less of it. Where none
    does, the smallest way of each is one more that does not.

    Where any fit will do, the kernels of least scratch are first: what they have is among what is looked at otherwise.
    """
    if planner.first_fit and (plan := _first_fit(planner, misfits)):
        return plan
    result, plans = list(misfits), list[Allocated]()
    for number, tiled in enumerate(_crowded(planner, misfits)):
        room, scheduled = _room(tiled), tiled.scheduled
        every = [_tried(planner, line_buffer_candidates(planner, scheduled, rebind), scheduled.bound.platform, room)]
        if every[0].plan is not None and not number:
            return every[0].plan
        if rebind:
            every.extend(_exchanged(planner, every[0], misfits[0], rebind))
        result.extend(misfit for tried in every for misfit in tried.misfits)
        plans.extend(tried.plan for tried in every if tried.plan is not None)
    return min(plans, key=plan_cycles) if plans else tuple(result)


def _first_fit(planner: Planner, misfits: tuple[PlanFailure, ...]) -> Allocated | None:
    """A plan with kernels that were tried in one piece, those of least scratch first."""
    for tiled in reversed(_crowded(planner, misfits)):
        ways = line_buffer_candidates(planner, tiled.scheduled, None)
        plan = _tried(replace(planner, optimize="ram"), ways, tiled.scheduled.bound.platform, _room(tiled)).plan
        if plan is not None:
            return plan
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tried:
    """Ways of one binding: the plan of the first that fits, or why none of those that might does; the last of them."""

    platform: Platform
    room: float
    way: LineBufferedPlan | None = None
    plan: Allocated | None = None
    misfits: tuple[PlanFailure, ...] = ()

    @property
    def limit(self) -> float:
        """Bytes that a way may take. Where it takes no more and no placement was found, less by what was missing."""
        size = self.way.size_bytes if self.way else 0
        lies_badly = self.plan is None and bool(self.misfits) and size <= self.room
        return size - self.misfits[-1].excess_bytes if lies_badly else self.room


def _tried(planner: Planner, ways: Sequence[LineBufferedPlan], platform: Platform, room: float) -> _Tried:
    """Those that might fit, and the smallest: where that does not, it is what is nearest to fitting."""
    fitting = [candidate for candidate in ways if candidate.size_bytes <= room]
    if planner.optimize == "ram":
        fitting.sort(key=lambda plan: plan.size_bytes)
    tried, misfits, last = fitting[:MOST_PLANNED], list[PlanFailure](), None
    smallest = min(ways, key=lambda candidate: candidate.size_bytes, default=None)
    if smallest is not None and smallest not in tried:
        tried.append(smallest)
    for way in tried:
        last, answer = planned_well(planner, way, platform)
        if isinstance(answer, Allocated):
            return _Tried(platform=platform, room=room, way=last, plan=answer, misfits=tuple(misfits))
        misfits.append(answer)
    return _Tried(platform=platform, room=room, way=last, misfits=tuple(misfits))


def _exchanged(planner: Planner, tried: _Tried, misfit: PlanFailure, rebind: Rebind) -> Iterator[_Tried]:
    """The same with other kernels, again and again: with the fastest whose scratch has room in the way that was tried
    last, until it fits, and once more then. `misfit` is of the fastest kernels.
    """
    for _ in range(_MOST_EXCHANGES):
        if tried.way is None or misfit.tiled is None:
            return
        bound, first = tried.way.search.machine.bound, misfit.tiled.scheduled.bound
        kernels = kernels_within(tried.way, tried.limit, choice_of(bound, planner.operators, planner.pins))
        if not kernels:
            return
        fits, order = tried.plan is not None, order_of(tried.way.search.machine.scheduled)
        other = replace(rebind({**_not_fastest(bound), **kernels}), platform=tried.platform)
        other = replace(other, diagnostics=(*other.diagnostics, *slower_kernels(other, first, (misfit.memory,))))
        tried = _tried(planner, candidates_of(planner, other, order), tried.platform, tried.room)
        yield tried
        if fits:
            return


def _not_fastest(bound: Bound) -> dict[str, str]:
    """Kernels that are not the fastest of their nodes."""
    return {
        name: binding.kernel.name
        for name, binding in bound.bindings.items()
        if binding.kernel != binding.candidates[0].kernel
    }


def _crowded(planner: Planner, misfits: Sequence[PlanFailure]) -> list[Tiled]:
    """The first and the last that a memory was too small for, of the fastest kernels and of least scratch; and where
    their orders differ, the first order with the kernels of the last.
    """
    crowded = [misfit for misfit in misfits if misfit.overflow is not None and not misfit.of_constants]
    tiled = [misfit.tiled for misfit in crowded if misfit.tiled is not None]
    ends = [*tiled[:1], *tiled[1:][-1:]]
    if len(ends) == 2 and ends[0].scheduled.bound is not ends[1].scheduled.bound:
        order, other = (order_of(end.scheduled) for end in ends)
        if order != other and set(order) == set(other):
            decisions = Decisions(order=order).pinned_by(planner.pins)
            mixed = schedule(ends[1].scheduled.bound, planner.operators, decisions)
            ends.append(replace(ends[1], scheduled=mixed))
    return [end for end in ends if line_buffers_possible(planner, end.scheduled.bound.platform)]


def _room(tiled: Tiled) -> float:
    """Bytes of all memories that values may live in, without those of constants that are copied there to stay."""
    platform = tiled.scheduled.bound.platform
    sizes = [platform.hard_bytes(memory.name) for memory in platform.of_kind("ram")]
    copies = sum(buffer.size_bytes for buffer in tiled.buffers if buffer.kind == "resident")
    return sum(float("inf") if size is None else size for size in sizes) - copies


def planned_well(
    planner: Planner, way: LineBufferedPlan, platform: Platform
) -> tuple[LineBufferedPlan, Allocated | PlanFailure]:
    """The way, or a roomier one, and the plan. The roomier one is taken where the way does not fit, or takes more than
    its least and speed is not what is asked for: then buffers lie badly beside one another.
    """
    answer, roomier = planned_candidate(planner, way, platform), way.least_memory()
    enough = isinstance(answer, Allocated) and (planner.optimize == "speed" or ram_bytes(answer) <= way.size_bytes)
    if enough or roomier is None or roomier.cycle_ratio > _slowest(planner):
        return way, answer
    other = planned_candidate(planner, roomier, platform)
    if isinstance(other, PlanFailure) and isinstance(answer, PlanFailure):
        return (roomier, other) if other.excess_bytes < answer.excess_bytes else (way, answer)
    if isinstance(other, PlanFailure) or (isinstance(answer, Allocated) and ram_bytes(answer) <= ram_bytes(other)):
        return way, answer
    return roomier, other


def planned_candidate(planner: Planner, way: LineBufferedPlan, platform: Platform) -> Allocated | PlanFailure:
    """With its regions, and the limits of `platform`: those that the way was found with may be others."""
    bound = replace(way.search.machine.bound, platform=platform)
    return planner.attempt(bound, way.decisions().pinned_by(planner.pins))
