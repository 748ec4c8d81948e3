"""Ways to compute steps by rows: orders, and which is faster."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tilewright.ir.plans.stages import Allocated
from tilewright.plan.line_buffers.candidates import line_buffered_plans, order_of
from tilewright.schedule import schedule
from tilewright.testing.one_step import vocabulary
from tilewright.tile.line_buffers.lifetimes import CallCache

Planned = Callable[..., Allocated]


def test_orders_have_every_node_once(planned: Planned) -> None:
    scheduled = planned().tiled.scheduled
    nodes = [node.name for node in scheduled.bound.graph.nodes]
    assert sorted(order_of(scheduled)) == sorted(nodes)


def test_ways_are_sorted_by_cycles(planned: Planned) -> None:
    plan = planned()
    decisions = replace(plan.decisions, tiles={}, groups=(), offsets={}, memories={})
    ways = line_buffered_plans(plan.tiled.scheduled, vocabulary(), decisions, apart=True)
    assert [way.partition.cycles for way in ways] == sorted(way.partition.cycles for way in ways)
    assert all(way.cycle_ratio >= 1.0 for way in ways)


@pytest.mark.slow
def test_calls_that_are_known_from_other_ends_give_the_same_ways(planned: Planned) -> None:
    """Inputs and outputs that stay with the caller change sizes, not the calls of a binding in one order."""
    plan, known = planned(), CallCache()
    ours = replace(plan.decisions, tiles={}, groups=(), offsets={}, memories={})
    ends = (*plan.tiled.scheduled.bound.graph.inputs, *plan.tiled.scheduled.bound.graph.outputs)
    sizes = []
    for decisions in (ours, replace(ours, io=dict.fromkeys(ends, "user"))):
        scheduled = schedule(plan.tiled.scheduled.bound, vocabulary(), decisions)
        alone = line_buffered_plans(scheduled, vocabulary(), decisions, apart=True)
        after = line_buffered_plans(scheduled, vocabulary(), decisions, apart=True, known=known)
        assert [one.partition for one in after] == [one.partition for one in alone]
        sizes.append([one.size_bytes for one in after])
    assert sizes[0] != sizes[1]
