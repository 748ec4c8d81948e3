"""A limit that costs much time: when another plan is made to say so, what is said, and that nothing else is planned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from row_networks import ONE_MEMORY, row_network
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Allocated, Bound
from tilewright.plan.kernel_fallback import Fitting
from tilewright.plan.proposals.planner import Planner
from tilewright.plan.proposals.work import WorkDone
from tilewright.plan.suggestions import Change, Request, Trials, is_costly, limit_notes, with_limits_cost, with_memories
from tilewright.planning import plan_notes
from tilewright.testing.one_step import vocabulary

Planned = Callable[..., Allocated]
LIMIT = 4_000  # of some 4,860 B layer by layer
ASKED = Request(placeable=False, effort=1)


def slower(plan: Allocated, times: float) -> Allocated:
    """The same plan where every step takes so many times as long."""
    groups = tuple(replace(group, cycles=group.cycles * times) for group in plan.tiled.groups)
    return replace(plan, tiled=replace(plan.tiled, groups=groups))


class Counted:
    """What is planned with inputs and outputs that stay with the caller: asked how often, and with what."""

    def __init__(self, answer: Allocated | None) -> None:
        self.answer, self.changes = answer, list[Change]()

    def plan(self, bound: Bound, change: Change) -> Allocated | None:
        del bound
        self.changes.append(change)
        return self.answer

    def told(self, plan: Allocated, asked: Request = ASKED) -> Allocated:
        return with_limits_cost(plan.tiled.scheduled.bound, plan, Trials(self.plan), asked)


def test_what_would_be_much_faster_is_said_with_its_bytes_and_cycles(planned: Planned) -> None:
    fast = planned("speed", LIMIT)
    counted, slow = Counted(fast), slower(fast, 3)
    told = counted.told(slow)
    (note,) = limit_notes(told)
    assert note in plan_notes(told, vocabulary())
    assert (note.code, note.severity) == ("TW5039", "note")
    (line,) = note.fix
    used = sum(pool.used_bytes for pool in fast.pools if pool.memory == "ram")
    assert line.startswith("--io user     inputs and outputs stay in your buffers -> fits, ram ")
    assert f"ram {used:,} of {LIMIT:,} B" in line and line.endswith(" % more cycles")
    assert counted.changes == [Change(users=True)]
    assert replace(told, tiled=slow.tiled) == slow  # what is planned stays as it is
    assert told.tiled.groups == slow.tiled.groups


@pytest.mark.parametrize("answer", [None, 2.5])
def test_nothing_is_said_where_the_other_does_not_fit_or_is_hardly_faster(
    planned: Planned, answer: float | None
) -> None:
    plan = planned("speed", LIMIT)
    counted, slow = Counted(slower(plan, answer) if answer else None), slower(plan, 3)
    assert counted.told(slow) is slow
    assert len(counted.changes) == 1


def test_nothing_is_planned_where_nothing_costs_much_or_could_change(planned: Planned) -> None:
    """What fits easily is planned once."""
    plan, boundless = planned("speed", LIMIT), planned("speed")
    ends = (*plan.tiled.scheduled.bound.graph.inputs, *plan.tiled.scheduled.bound.graph.outputs)
    outside = replace(slower(plan, 3), decisions=Decisions(io=dict.fromkeys(ends, "user")))
    counted = Counted(plan)
    for one, asked in (
        (plan, ASKED),
        (slower(boundless, 3), ASKED),
        (slower(plan, 3), replace(ASKED, io_pinned=True)),
        (outside, ASKED),
    ):
        assert counted.told(one, asked) is one
    assert counted.changes == []
    assert [is_costly(one) for one in (plan, slower(boundless, 3), slower(plan, 3))] == [False, False, True]


def test_one_plan_more_is_all_that_is_made_and_no_more_than_may_be(fastest: Planner, monkeypatch: Any) -> None:
    """Where there is no work left for it, nothing is said."""
    bound = with_memories(fastest.bind(row_network(0, vocabulary()).graph, ONE_MEMORY), {"ram": LIMIT})
    plan = Fitting(planner=fastest).plan(bound)
    made = list[Decisions]()

    def found(self: Fitting, bound: Bound) -> Allocated:
        del bound
        made.append(self.planner.pins)
        if len(made) == 2:
            raise WorkDone
        return slower(plan, 3)

    monkeypatch.setattr(Fitting, "found", found)
    assert list(limit_notes(Fitting(planner=fastest).plan(bound))) == []
    assert [set(pins.io.values()) for pins in made] == [set(), {"user"}]
