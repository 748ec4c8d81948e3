"""One nest of the pools and the clip of `conftest.py`: what it takes, and that groups of equal steps share it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tilewright.ir.plans.region import Cut
from tilewright.tile.cost.footprint import scratchpad_bytes
from tilewright.tile.cost.region_cost import compute_cycles, region_costs
from tilewright.tile.cost.traffic import crossings_of, traffic_of
from tilewright.tile.groups.group_search import best_groups
from tilewright.tile.groups.nest_costs import GroupNests, NestCosts, hops_with, region_of, with_copies
from tilewright.tile.space.fusion import RegionAnalysis

ROWS = (Cut("h", 3),)


def of_other_names(analysis: RegionAnalysis) -> RegionAnalysis:
    """The same steps in another layer, where one more core starts copies."""
    members = []
    for member in analysis.members:
        space = replace(member.space, engine=replace(member.space.engine, dma_core=True, copy_start_cycles=40.0))
        step, output = replace(member.step, name=f"{member.step.name}2"), replace(member.output, value="other")
        members.append(replace(member, step=step, output=output, spaces=(space,)))
    return replace(analysis, members=tuple(members))


def test_a_nest_is_what_its_boxes_and_copies_are(pools: Any) -> None:
    costs, boxes = NestCosts(pools.analysis, (), ROWS, "rolling"), with_copies(pools.boxes)
    forms = dict.fromkeys(("a:0", "b:0"), "rolling")
    region = region_of(costs.copied, costs.forms)
    (cost,) = region_costs(pools.analysis, region)
    assert region.forms == forms and costs.copied.hops == boxes.hops and costs.sound and costs.legal
    assert costs.held_bytes + costs.copied_bytes == cost.scratchpad_bytes
    assert costs.held_bytes == scratchpad_bytes(costs.boxes, ((),), {}, 0)
    assert [one.tile_bytes for one in costs.crossings[0]] == [one.tile_bytes for one in crossings_of(boxes)[0]]
    assert np.array_equal(costs.computes, compute_cycles(costs.boxes)) and costs.computing == costs.computes.sum()
    assert costs.moved_bytes == cost.in_bytes + cost.out_bytes
    assert cost.compute_cycles <= cost.total_cycles and costs.least_cycles <= cost.total_cycles
    copying = sum(float(crossing.cycles.sum()) for here in traffic_of(costs.copied) for crossing in here)
    assert costs.least_cycles >= max(copying, costs.computing)


def test_tiles_that_would_compute_an_element_twice_are_not_sound(pools: Any) -> None:
    first, *others = pools.analysis.members
    wanted = replace(pools.analysis, members=(replace(first, live_out=True), *others))
    assert NestCosts(wanted, (), ROWS, "rolling").sound
    assert not NestCosts(wanted, (), ROWS, "recomputed").sound


def test_a_nest_is_worked_out_once(pools: Any) -> None:
    nests = GroupNests(pools.analysis)
    assert nests.nest((), ROWS, "rolling") is nests.nest((), ROWS, "rolling")
    assert nests.nest((), ROWS, "rolling") is not nests.nest((), ROWS, "recomputed")
    outer = hops_with(pools.analysis, ROWS, ())
    assert nests.nest(outer, ROWS, "rolling") is not nests.nest((), ROWS, "rolling")


@pytest.mark.parametrize("room", [None, 1000, 600, 400, 300, 16])
def test_groups_of_equal_steps_have_the_tilings_that_they_find_alone(pools: Any, room: int | None) -> None:
    """Whatever room the first of them had, and whoever starts copies."""
    nests = GroupNests(pools.analysis)
    best_groups(pools.analysis, "auto", (0.2, 0.0), nests=nests)
    other = replace(of_other_names(pools.analysis), rooms=(room,))
    named = nests.named(other)
    assert [member.step.name for member in named.members] == ["a", "b", "c"] and named.rooms == (room,)
    assert named.sink.space.engine.dma_core and not nests.analysis.sink.space.engine.dma_core
    shared = best_groups(named, "auto", (0.2, 0.0), nests=nests)
    assert [found.cost for found in shared] == [found.cost for found in best_groups(other, "auto", (0.2, 0.0))]
    assert shared == best_groups(named, "auto", (0.2, 0.0))
