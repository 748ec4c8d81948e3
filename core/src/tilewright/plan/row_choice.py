"""Knows when steps of a machine with one memory are computed row by row, and which of the ways to do so is taken.
Does not know how such regions are found (`tile/row_programs`), nor how any plan is made: it asks the planner.

What is asked for decides: `ram` takes the least memory, `balanced` the least at no more than a tenth more cycles.
`speed` computes steps together by rows only where nothing else fits; an output takes the bytes of what its step reads,
row by row, where that is free.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from tilewright.errors import Diagnostic
from tilewright.ir.dataclass import dataclass
from tilewright.ir.decisions import Decisions
from tilewright.ir.layer import Layers
from tilewright.ir.operator import Operator
from tilewright.ir.platform import Platform
from tilewright.ir.stages import Allocated, Bound, Scheduled
from tilewright.plan.planner import Planner, ram_bytes
from tilewright.plan.row_kernels import kernels_by_rows
from tilewright.plan.shortage import Misfit
from tilewright.schedule import schedule
from tilewright.schedule.order import given_order
from tilewright.tile.row_buffers import row_macs_again
from tilewright.tile.row_programs import Division, RowPrograms, overlaid_steps, row_programs
from tilewright.tile.row_steps import RowSteps
from tilewright.tile.step_spaces import ScheduledMachine
from tilewright.tile.whole import WholeTiler

BALANCED = 1.1  # times the cycles of layer by layer, at most
FREE = 1.01  # the same where speed is asked for
_MOST_PLANNED = 16  # ways that are planned with: most of them reach the least that they take
_MOST_OVERLAID = 2  # the same where speed is asked for
_SHOWN = 0.05  # percent
_LEAST_SAVED = 1024  # bytes, where only speed is asked for: a step that is called by rows is some 300 B more code


@dataclass(frozen=True, slots=True, kw_only=True)
class RowPlan:
    """One way: the least that any plan with it takes, and how many times the cycles of layer by layer."""

    programs: RowPrograms
    division: Division
    size_bytes: int
    slowdown: float

    def decisions(self) -> Decisions:
        """The same order and in-place pairs, with these regions."""
        decisions = self.programs.machine.decisions
        regions = self.programs.regions(self.division)
        return Decisions(order=decisions.order, in_place=decisions.in_place, tiles=regions)


Rebind = Callable[[Mapping[str, str]], Bound]  # with these kernels, node -> name


def with_rows(
    planner: Planner, answer: Allocated | tuple[Misfit, ...], rebind: Rebind | None = None
) -> Allocated | tuple[Misfit, ...]:
    """The plan that is asked for; the answer itself where rows give no better one.

    `rebind`: kernels may be others than those of the answer, where these take a layer in one piece only.
    """
    if not isinstance(answer, Allocated):
        return _fitting(planner, answer, rebind)
    if "push" in planner.pins.io.values():
        return _arriving(planner, answer, rebind)
    if not rows_possible(planner, answer.tiled.scheduled.bound.platform):
        return answer
    if planner.optimize == "speed":
        # copies of constants were chosen for the room that this plan leaves
        kept = planner.choose_constant_copies or isinstance(planner.tiler, WholeTiler)
        return answer if kept else _overlaid_plan(planner, answer)
    most = BALANCED if planner.optimize == "balanced" else float("inf")
    ways = [one for one in row_ways(planner, answer.tiled.scheduled, rebind) if one.slowdown <= most]
    return smallest_plan(planner, answer, ways, _MOST_PLANNED)


def row_plans(
    scheduled: Scheduled,
    operators: Mapping[str, Operator],
    decisions: Decisions,
    *,
    apart: bool,
    recompute: float = 1.0,
) -> tuple[RowPlan, ...]:
    """All ways worth a look, the fastest first. `apart`: also those in which no value takes another's bytes. None takes
    more than `recompute` times the multiply-accumulates.
    """
    before, most = layers_cycles(scheduled), (recompute - 1.0) * macs_of(scheduled, operators)
    found: list[RowPlan] = []
    for chosen in _schedules(scheduled, operators, decisions, apart=apart):
        machine = ScheduledMachine(chosen[0], operators, chosen[1])
        programs = row_programs(machine, most)
        found.extend(
            _way(programs, one, before)
            for one in programs.front()
            if any(segment.rows for segment in one.segments) and one.again <= most
        )
        if "push" not in decisions.io.values():  # rows arrive for steps that are called by rows
            found.extend(_overlaid(machine, before, float("inf")))
    return tuple(sorted(found, key=lambda one: (one.division.cycles, one.size_bytes)))


def _way(programs: RowPrograms, one: Division, cycles: float) -> RowPlan:
    """`cycles`: of layer by layer."""
    size, slowdown = programs.least_bytes(one), one.cycles / max(cycles, 1.0)
    return RowPlan(programs=programs, division=one, size_bytes=size, slowdown=slowdown)


def macs_of(scheduled: Scheduled, operators: Mapping[str, Operator]) -> int:
    """Multiply-accumulates of the network, each once."""
    return sum(operators[site.node.op].macs(site) for site in scheduled.bound.graph.sites())


def layers_cycles(scheduled: Scheduled) -> float:
    """What all steps take in one piece, with the fastest kernels; an estimate."""
    return sum(scheduled.bound.bindings[step.name].candidates[0].cycles for step in scheduled.steps)


def _schedules(
    scheduled: Scheduled, operators: Mapping[str, Operator], decisions: Decisions, *, apart: bool
) -> Iterator[tuple[Scheduled, Decisions]]:
    yield scheduled, decisions
    if apart and scheduled.in_place:
        other = replace(decisions, in_place=dict.fromkeys(scheduled.in_place, ""))
        yield schedule(scheduled.bound, operators, other), other


def rows_possible(planner: Planner, platform: Platform) -> bool:
    """Whether there is one memory, one core, and no pin about groups or tiles."""
    alone = not platform.near and all(engine.cores == 1 for engine in platform.engines)
    return alone and not planner.pins.tiles and not planner.pins.groups


def overlaid_ways(planner: Planner, scheduled: Scheduled, most: float) -> tuple[RowPlan, ...]:
    """The smallest ways in which every step is alone, and outputs are over what their steps read; the fastest first.

    They take at most `most` times the cycles of layer by layer.
    """
    decisions = Decisions(order=order_of(scheduled)).pinned_by(planner.pins)
    return _overlaid(ScheduledMachine(scheduled, planner.operators, decisions), layers_cycles(scheduled), most)


def _overlaid(machine: ScheduledMachine, cycles: float, most: float) -> tuple[RowPlan, ...]:
    programs, divisions = overlaid_steps(machine, most_cycles=most * cycles)
    return tuple(_way(programs, one, cycles) for one in divisions[-_MOST_PLANNED:])


def row_ways(planner: Planner, scheduled: Scheduled, rebind: Rebind | None) -> tuple[RowPlan, ...]:
    """The ways with the kernels that are there, and, where it makes a difference, with such as take rows. Only the
    order of `scheduled` counts: what shares bytes there may be what a plan by rows has chosen.
    """
    apart = not planner.pins.in_place
    decisions = Decisions(order=order_of(scheduled)).pinned_by(planner.pins)
    layers = schedule(scheduled.bound, planner.operators, decisions)
    found = row_plans(layers, planner.operators, decisions, apart=apart, recompute=planner.recompute)
    kernels = kernels_by_rows(scheduled.bound, planner.layers or Layers(operators=planner.operators)) if rebind else {}
    if not kernels or rebind is None:
        return found
    bound = rebind(kernels)
    if {node.name for node in bound.graph.nodes} != set(decisions.order):
        decisions = Decisions(order=given_order(bound.graph)).pinned_by(planner.pins)
    other = schedule(bound, planner.operators, decisions)
    more = row_plans(other, planner.operators, decisions, apart=apart, recompute=planner.recompute)
    return tuple(sorted((*found, *more), key=lambda one: (one.division.cycles, one.size_bytes)))


def order_of(scheduled: Scheduled) -> tuple[str, ...]:
    """All nodes in the order of the steps; what is a view as soon as what it shows is there."""
    graph = scheduled.bound.graph
    steps = [name for step in scheduled.steps for name in step.nodes]
    nodes = {node.name: node for node in graph.nodes}
    views = [node for node in graph.nodes if node.name not in set(steps)]
    known, order = {"", *graph.inputs, *graph.constants}, list[str]()
    for name in ("", *steps):
        if name:
            order.append(name)
            known.update(nodes[name].outputs)
        for node in views:  # in topological order: once through is enough
            if node.name not in order and known.issuperset(node.inputs):
                order.append(node.name)
                known.update(node.outputs)
    return tuple(order)


def smallest_plan(planner: Planner, plan: Allocated, ways: Sequence[RowPlan], most: int) -> Allocated:
    """Of the plan and the ways what takes least, of equal ways the fastest; so many are planned with at most."""
    best, least, left = plan, (ram_bytes(plan), 0.0), most
    for way in sorted(ways, key=lambda one: (one.size_bytes, one.slowdown)):
        if way.size_bytes > least[0] or not left:
            break
        if (way.size_bytes, way.slowdown) >= least:
            continue
        answer = planned_way(planner, way)
        left -= 1
        if isinstance(answer, Allocated) and (ram_bytes(answer), way.slowdown) < least:
            best, least = answer, (ram_bytes(answer), way.slowdown)
    return best


def _overlaid_plan(planner: Planner, plan: Allocated) -> Allocated:
    """The plan with outputs over what their steps read, where that is free and saves enough."""
    most = ram_bytes(plan) - _LEAST_SAVED
    ways = (
        [one for one in overlaid_ways(planner, plan.tiled.scheduled, FREE) if one.size_bytes <= most]
        if most > 0
        else []
    )
    best = smallest_plan(planner, plan, ways, _MOST_OVERLAID)
    return best if ram_bytes(best) <= most else plan


def _arriving(planner: Planner, plan: Allocated, rebind: Rebind | None) -> Allocated | tuple[Misfit, ...]:
    """The plan where an input arrives in rows. `plan` has it whole, which is an answer only where tiles are pinned."""
    platform = plan.tiled.scheduled.bound.platform
    if not rows_possible(planner, platform):
        return plan
    every = row_ways(planner, plan.tiled.scheduled, rebind)
    ways = [one for one in every if one.size_bytes <= _room(platform)] or list(every)
    if planner.optimize != "speed":
        most = BALANCED if planner.optimize == "balanced" else float("inf")
        enough = [one for one in ways if one.slowdown <= most] or ways[:1]
        ways = sorted(enough, key=lambda one: (one.size_bytes, one.slowdown))
    plans, misfits = list[Allocated](), list[Misfit]()
    for way in ways[:_MOST_PLANNED]:
        answer = planned_way(planner, way)
        if isinstance(answer, Misfit):
            misfits.append(answer)
            continue
        plans.append(answer)
        if planner.optimize == "speed":
            break
    return min(plans, key=ram_bytes) if plans else tuple(misfits)


def _fitting(planner: Planner, misfits: tuple[Misfit, ...], rebind: Rebind | None) -> Allocated | tuple[Misfit, ...]:
    """The first way that fits: the fastest one, or the smallest where that is asked for. Where none does, the smallest
    way is one more that does not.
    """
    found = list(misfits)
    for scheduled in _crowded(planner, misfits):
        room, ways = _room(scheduled.bound.platform), row_ways(planner, scheduled, rebind)
        least = min(ways, key=lambda one: one.size_bytes, default=None)
        fitting = [one for one in ways if one.size_bytes <= room]
        if planner.optimize == "ram":
            fitting.sort(key=lambda one: one.size_bytes)
        for way in fitting[:_MOST_PLANNED] or ([least] if least else []):
            answer = planned_way(planner, way)
            if isinstance(answer, Allocated):
                return answer
            found.append(answer)
    return tuple(found)


def _crowded(planner: Planner, misfits: Sequence[Misfit]) -> list[Scheduled]:
    """The first and the last schedule that a memory was too small for, of the fastest kernels and of least scratch; and
    where their orders differ, the first order with the kernels of the last.
    """
    crowded = [misfit for misfit in misfits if misfit.overflow is not None and not misfit.of_constants]
    tiled = [misfit.tiled.scheduled for misfit in crowded if misfit.tiled is not None]
    ends = [*tiled[:1], *tiled[1:][-1:]]
    if len(ends) == 2 and ends[0].bound is not ends[1].bound:
        order, other = (order_of(one) for one in ends)
        if order != other and set(order) == set(other):
            decisions = Decisions(order=order).pinned_by(planner.pins)
            ends.append(schedule(ends[1].bound, planner.operators, decisions))
    return [one for one in ends if rows_possible(planner, one.bound.platform)]


def _room(platform: Platform) -> float:
    """Bytes of all memories that values may live in."""
    sizes = [platform.hard_bytes(memory.name) for memory in platform.of_kind("ram")]
    return sum(float("inf") if size is None else size for size in sizes)


def planned_way(planner: Planner, way: RowPlan) -> Allocated | Misfit:
    """With its regions."""
    return planner.attempt(way.programs.machine.bound, way.decisions().pinned_by(planner.pins))


def slowdown(allocated: Allocated) -> float:
    """What a plan takes longer than its steps in one piece with the fastest kernels, as a part of that; an estimate."""
    before = layers_cycles(allocated.tiled.scheduled)
    return sum(group.cycles for group in allocated.tiled.groups) / before - 1 if before else 0.0


def times_computed(allocated: Allocated, operators: Mapping[str, Operator]) -> float:
    """How many times the network's multiply-accumulates a plan does; more than once where it is computed in stripes."""
    machine = ScheduledMachine(allocated.tiled.scheduled, operators, allocated.decisions)
    striped = [region for region in allocated.tiled.regions if region.rows and region.rows.stripes]
    again = sum(row_macs_again(machine, region) for region in striped)
    return 1.0 + again / max(1, macs_of(machine.scheduled, operators))


def row_notes(allocated: Allocated, operators: Mapping[str, Operator]) -> Iterator[Diagnostic]:
    """The note TW5036 of a plan with steps that are computed by rows: how many, what that costs, and why they end."""
    tiled = allocated.tiled
    groups = [group for group in tiled.groups if group.region.rows is not None]
    if not groups:
        return
    percent = max(0.0, 100 * slowdown(allocated))
    longer = f", about {percent:.1f} % more cycles (estimate)" if percent >= _SHOWN else ", no more cycles (estimate)"
    count = sum(len(group.steps) for group in groups)
    steps = "1 step is" if count == 1 else f"{count} steps are"
    often = times_computed(allocated, operators)
    longer += f", {often:.2f} times the multiply-accumulates" if often > 1 else ""
    yield Diagnostic(
        code="TW5036",
        severity="note",
        message=f"{steps} computed row by row: {ram_bytes(allocated):,} B of memory{longer}",
        details=tuple(_ends(allocated, operators)),
    )


def _ends(allocated: Allocated, operators: Mapping[str, Operator]) -> Iterator[str]:
    """For each region by rows, why the step after it is in none."""
    tiled = allocated.tiled
    steps = RowSteps(ScheduledMachine(tiled.scheduled, operators, allocated.decisions))
    last = (steps.machine.numbers[region.name] for region in tiled.regions if region.rows is not None)
    for number in (after + 1 for after in last if after + 1 < len(tiled.scheduled.steps)):
        if steps.at(number).cannot:
            yield f"they end before '{steps.at(number).step.name}': {steps.at(number).cannot}"
