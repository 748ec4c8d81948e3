"""One way by rows, as decisions: the order and the pairs that it was found with, and its regions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tilewright.ir.plans.stages import Allocated
from tilewright.plan.line_buffers.candidates import line_buffered_plans
from tilewright.testing.one_step import vocabulary

Planned = Callable[..., Allocated]


def test_it_decides_the_order_the_pairs_and_the_regions(planned: Planned) -> None:
    plan = planned()
    found = replace(plan.decisions, tiles={}, groups=(), offsets={}, memories={})
    for way in line_buffered_plans(plan.tiled.scheduled, vocabulary(), found, apart=False):
        decisions = way.decisions()
        assert (decisions.order, decisions.in_place) == (found.order, found.in_place)
        last = [plan.tiled.scheduled.steps[one.last].name for one in way.partition.segments if one.row_schedule]
        assert list(decisions.tiles) == last and all(region.line_buffers for region in decisions.tiles.values())


def test_a_roomier_way_has_the_same_steps_together_and_no_segment_takes_more(planned: Planned) -> None:
    plan, roomier = planned(), 0
    decisions = replace(plan.decisions, tiles={}, groups=(), offsets={}, memories={})
    for way in line_buffered_plans(plan.tiled.scheduled, vocabulary(), decisions, apart=False):
        other = way.least_memory()
        if other is None:
            continue
        roomier += 1
        pairs = list(zip(way.partition.segments, other.partition.segments, strict=True))
        assert all((one.first, one.last) == (two.first, two.last) for one, two in pairs)
        assert all(
            two.size_bytes <= one.size_bytes and two.recomputed_macs <= one.recomputed_macs for one, two in pairs
        )
        assert other.size_bytes <= way.size_bytes and other.least_memory() is None
        assert other.cycle_ratio / way.cycle_ratio == pytest.approx(other.partition.cycles / way.partition.cycles)
    assert roomier
