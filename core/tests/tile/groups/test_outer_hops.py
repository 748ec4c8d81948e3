"""How what several steps need crosses a memory on the way: whole where there is room, else in tiles."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tilewright.ir.plans.region import Cut
from tilewright.tile.cost.region_cost import altogether, region_costs
from tilewright.tile.groups.group_search import best_groups, hops_with, outer_hops
from tilewright.tile.space.fusion import RegionAnalysis, whole_hops


def over_two_hops(pools: Any, room_bytes: int) -> RegionAnalysis:
    """The same, with so many bytes on the way."""
    analysis = pools.analysis
    members = tuple(replace(one, spaces=one.spaces * 2) for one in analysis.members)
    return replace(analysis, members=members, hops=analysis.hops * 2, rooms=(room_bytes, None), grains=(8, 8))


def test_with_room_on_the_way_hops_before_the_last_have_no_cuts(pools: Any) -> None:
    two = over_two_hops(pools, 512)
    outer, inner = hops_with(two, (Cut("h", 3),))
    assert (outer.nest, inner.nest, inner.copies) == ((), (Cut("h", 3),), {})
    assert (two.available_bytes(), two.available_bytes(0)) == (float("inf"), 512)
    assert best_groups(two, "single")


def test_whole_values_are_the_only_way_where_they_have_room(pools: Any) -> None:
    two = over_two_hops(pools, 512)
    assert list(outer_hops(two, "auto")) == [whole_hops(two)]
    assert list(outer_hops(pools.analysis, "auto")) == [()], "nothing is on the way"


@pytest.mark.parametrize("room_bytes", [511, 400, 300])
def test_the_largest_tiles_that_fit_cross_in_two_buffers_and_in_one(pools: Any, room_bytes: int) -> None:
    found = [hop for (hop,) in outer_hops(over_two_hops(pools, room_bytes), "auto")]
    assert {cut.loop for hop in found for cut in hop.nest} <= {"c", "h", "w"}
    assert found
    for hop in found:
        (cut,) = hop.nest
        pair = [one for one in found if one.nest[0].loop == cut.loop]
        assert [max(copy.buffers for copy in one.copies.values()) for one in pair] in ([2, 1], [1])
    single = [hop for (hop,) in outer_hops(over_two_hops(pools, room_bytes), "single")]
    assert single == [hop for hop in found if all(copy.buffers == 1 for copy in hop.copies.values())]


def test_what_has_no_room_on_the_way_crosses_in_tiles(pools: Any) -> None:
    two = over_two_hops(pools, 511)
    (found,) = best_groups(two, "single")
    outer, _ = found.region.hops
    assert len(outer.nest) == 1
    costs = region_costs(two, found.region)
    assert costs[0].scratchpad_bytes <= 511
    assert found.cost == altogether(costs)
    assert best_groups(over_two_hops(pools, 31), "single") == ()
