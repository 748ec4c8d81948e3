"""Knows what a plan with steps by rows costs: cycles, products that are done again, and how that is told.
Does not know which other plans there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tilewright.errors import Diagnostic
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.plans.stages import Allocated, Scheduled
from tilewright.plan.proposals.planner import ram_bytes
from tilewright.tile.line_buffers.analysis import LineBufferAnalysis
from tilewright.tile.line_buffers.buffers import recomputed_macs
from tilewright.tile.line_buffers.streamed_io import arrivals
from tilewright.tile.machine import ScheduledMachine

_SHOWN = 0.05  # percent


def macs_of(scheduled: Scheduled, operators: Mapping[str, Operator]) -> int:
    """Multiply-accumulates of the network, each once."""
    return sum(operators[site.node.op].macs(site) for site in scheduled.bound.graph.sites())


def layers_cycles(scheduled: Scheduled) -> float:
    """What all steps take in one piece, with the fastest kernels; an estimate."""
    return sum(scheduled.bound.bindings[step.name].candidates[0].cycles for step in scheduled.steps)


def plan_cycles(allocated: Allocated) -> float:
    """What all steps of a plan take; an estimate."""
    return sum(group.cycles for group in allocated.tiled.groups)


def cycle_ratio(allocated: Allocated) -> float:
    """What a plan takes longer than its steps in one piece with the fastest kernels, as a part of that; an estimate."""
    before = layers_cycles(allocated.tiled.scheduled)
    return plan_cycles(allocated) / before - 1 if before else 0.0


def times_computed(allocated: Allocated, operators: Mapping[str, Operator]) -> float:
    """How many times the network's multiply-accumulates a plan does; more than once where it is computed in stripes."""
    machine = ScheduledMachine(allocated.tiled.scheduled, operators, allocated.decisions)
    striped = [region for region in allocated.tiled.regions if region.line_buffers and region.line_buffers.stripes]
    steps = LineBufferAnalysis(machine)
    again = sum(recomputed_macs(steps, region) for region in striped)
    return 1.0 + again / max(1, macs_of(machine.scheduled, operators))


def line_buffer_notes(allocated: Allocated, operators: Mapping[str, Operator]) -> Iterator[Diagnostic]:
    """The note TW5036 of a plan with steps that are computed by rows: how many, what that costs, and why they end. With
    it, that inputs that arrive in rows come one after the other, where they do.
    """
    tiled = allocated.tiled
    groups = [group for group in tiled.groups if group.region.line_buffers is not None]
    if not groups:
        return
    percent = max(0.0, 100 * cycle_ratio(allocated))
    more = f"about {percent:.1f} % more cycles" if percent >= _SHOWN else "no more cycles"
    count = sum(len(group.steps) for group in groups)
    steps = "1 step is" if count == 1 else f"{count} steps are"
    often = times_computed(allocated, operators)
    longer = " than layer by layer (estimate)" + (f", {often:.2f} times the multiply-accumulates" if often > 1 else "")
    yield Diagnostic(
        code="TW5036",
        severity="note",
        message=f"{steps} computed row by row: {ram_bytes(allocated):,} B of memory, {more}{longer}",
        details=(*_turns(allocated), *_ends(allocated, operators)),
    )


def _turns(allocated: Allocated) -> Iterator[str]:
    taking = arrivals(allocated.tiled.scheduled, allocated.decisions.io)
    inputs = ([f"'{taking[step]}'" for step in region.steps if step in taking] for region in allocated.tiled.regions)
    turns = [" and ".join(names) for names in inputs if names]
    if len(turns) > 1:
        yield f"inputs arrive one after the other, each until all of it is there: {', then '.join(turns)}"


def _ends(allocated: Allocated, operators: Mapping[str, Operator]) -> Iterator[str]:
    """For each region by rows, why the step after it is in none."""
    tiled = allocated.tiled
    steps = LineBufferAnalysis(ScheduledMachine(tiled.scheduled, operators, allocated.decisions))
    last = (steps.machine.numbers[region.name] for region in tiled.regions if region.line_buffers is not None)
    for number in (after + 1 for after in last if after + 1 < len(tiled.scheduled.steps)):
        if steps.at(number).cannot:
            yield f"they end before '{steps.at(number).step.name}': {steps.at(number).cannot}"
