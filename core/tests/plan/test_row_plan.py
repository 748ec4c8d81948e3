"""One way by rows, as decisions: the order and the pairs that it was found with, and its regions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tilewright.ir.stages import Allocated
from tilewright.plan.row_ways import row_plans
from tilewright.testing.one_step import vocabulary

Planned = Callable[..., Allocated]


def test_it_decides_the_order_the_pairs_and_the_regions(planned: Planned) -> None:
    plan = planned()
    found = replace(plan.decisions, tiles={}, groups=(), offsets={}, memories={})
    for way in row_plans(plan.tiled.scheduled, vocabulary(), found, apart=False):
        decisions = way.decisions()
        assert (decisions.order, decisions.in_place) == (found.order, found.in_place)
        last = [plan.tiled.scheduled.steps[one.last].name for one in way.division.segments if one.way]
        assert list(decisions.tiles) == last and all(region.rows for region in decisions.tiles.values())


def test_a_roomier_way_has_the_same_steps_together_and_no_segment_takes_more(planned: Planned) -> None:
    plan, roomier = planned(), 0
    decisions = replace(plan.decisions, tiles={}, groups=(), offsets={}, memories={})
    for way in row_plans(plan.tiled.scheduled, vocabulary(), decisions, apart=False):
        other = way.roomier()
        if other is None:
            continue
        roomier += 1
        pairs = list(zip(way.division.segments, other.division.segments, strict=True))
        assert all((one.first, one.last) == (two.first, two.last) for one, two in pairs)
        assert all(two.size_bytes <= one.size_bytes and two.again <= one.again for one, two in pairs)
        assert other.size_bytes <= way.size_bytes and other.roomier() is None
        assert other.slowdown / way.slowdown == pytest.approx(other.division.cycles / way.division.cycles)
    assert roomier
