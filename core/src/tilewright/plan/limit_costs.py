"""Knows when a limit of memory costs much time that it would not cost if inputs and outputs stayed with the caller,
and how that is told. Does not know how anything is planned: it asks for one plan more, and only where it may help.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tilewright.errors import Diagnostic, typed
from tilewright.ir.plans.decisions import OUTSIDE
from tilewright.ir.plans.stages import Allocated, Bound
from tilewright.plan.line_buffers.plan_costs import cycle_ratio, plan_cycles
from tilewright.plan.suggestions import Change, Request, Trials, taken

_COSTLY = 0.25  # more cycles than layer by layer with the fastest kernels; and than what is proposed


def with_limits_cost(bound: Bound, plan: Allocated, trials: Trials, asked: Request) -> Allocated:
    """The plan, with the note TW5039 where `--io user` gives one that is much faster."""
    if not is_costly(plan) or asked.io_pinned or not _whole_ends(plan):
        return plan
    found = trials.planned(bound, Change(users=True))
    if found is None or plan_cycles(found) * (1 + _COSTLY) > plan_cycles(plan):
        return plan
    tiled, planned = plan.tiled, plan.tiled.scheduled.bound
    noted = replace(planned, diagnostics=(*planned.diagnostics, _note(plan, found, asked)))
    return replace(plan, tiled=replace(tiled, scheduled=replace(tiled.scheduled, bound=noted)))


def is_costly(plan: Allocated) -> bool:
    """Whether a plan of a machine without scratchpads, where memory has an end, takes much longer than it might."""
    platform = plan.tiled.scheduled.bound.platform
    limited = any(memory.size_bytes is not None for memory in platform.of_kind("ram"))
    return limited and not platform.inner and cycle_ratio(plan) > _COSTLY


def limit_notes(allocated: Allocated) -> Iterator[Diagnostic]:
    """What was found when the plan was made."""
    yield from (note for note in allocated.tiled.scheduled.bound.diagnostics if note.code == "TW5039")


def _whole_ends(plan: Allocated) -> bool:
    """Whether there are inputs or outputs in the plan."""
    graph, io = plan.tiled.scheduled.bound.graph, plan.decisions.io
    return any(io.get(name) not in OUTSIDE for name in (*graph.inputs, *graph.outputs))


def _note(plan: Allocated, found: Allocated, asked: Request) -> Diagnostic:
    here, there = (f"{max(0.0, 100 * cycle_ratio(one)):.1f} %" for one in (plan, found))
    gives = f"inputs and outputs stay in your buffers -> {taken(found)}, about {there} more cycles"
    return Diagnostic(
        code="TW5039",
        severity="note",
        message=f"the limit of memory costs about {here} more cycles than layer by layer (estimate)",
        fix=(typed(*asked.users, gives=gives),),
    )
