"""How three steps are tiled together: the pools and the clip of `conftest.py`, in less and less scratchpad."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tilewright.bind import bind
from tilewright.check.tiling import check_tiles
from tilewright.ir.graphs.graph import Attribute
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.region import Copy, Cut, InternalValue, SplitReduction
from tilewright.ir.plans.stages import Scheduled
from tilewright.ir.tensors.dtypes import DType
from tilewright.schedule import schedule
from tilewright.testing.cluster import RUNTIME_BYTES, cluster
from tilewright.testing.one_step import portable_kernels, vocabulary
from tilewright.testing.sketch import Sketch
from tilewright.tile.cost.lower_bounds import MOST_TRAFFIC
from tilewright.tile.cost.region_cost import altogether, region_costs
from tilewright.tile.groups.group_bounds import least_bytes, least_cost
from tilewright.tile.groups.group_search import best_groups, region_with, score
from tilewright.tile.machine import ScheduledMachine
from tilewright.tile.space.fusion import RegionAnalysis, region_analysis
from tilewright.tile.strategies import StepTiler
from tilewright.tile.tile import tile

ONE_BY_ONE: dict[str, Attribute] = {
    "kernel_shape": (1, 1), "strides": (1, 1), "dilations": (1, 1), "pads": (0, 0, 0, 0), "group": 1,
}  # fmt: skip
WHOLE = 4 * 256  # bytes of x, of both values inside, and of the output


def within(pools: Any, room_bytes: int | None) -> RegionAnalysis:
    return replace(pools.analysis, rooms=(room_bytes,))


def best(pools: Any, room_bytes: int | None, buffering: Any = "single") -> Any:
    (found,) = best_groups(within(pools, room_bytes), buffering)
    return found


def test_cuts_and_forms_make_a_region(pools: Any) -> None:
    """Copied as seldom as one buffer allows: window by window along the loop that is cut."""
    region = region_with(pools.analysis, (Cut("h", 3),), pools.region.forms)
    assert region == pools.region
    apart = region_with(pools.analysis, (Cut("c", 1),), dict.fromkeys(("a:0", "b:0"), "whole"))
    assert apart.internal_values == dict.fromkeys(("a:0", "b:0"), InternalValue(memory="l1", form="whole"))
    assert apart.hops[0].copies == {"a.X": Copy(level=0), "c.Y": Copy(level=1)}, "all channels before the first tile"


def test_with_room_for_everything_nothing_is_cut(pools: Any) -> None:
    assert best(pools, WHOLE).region.hops[0].nest == ()
    assert best(pools, None).cost.scratchpad_bytes == WHOLE


def test_without_it_tiles_are_as_large_as_may_be(pools: Any) -> None:
    for room_bytes in (WHOLE - 8, 600, 400, 200):
        found = best(pools, room_bytes)
        assert found.region.hops[0].nest
        assert found.cost.scratchpad_bytes <= room_bytes
        assert found.cost == altogether(region_costs(within(pools, room_bytes), found.region))
    cycles = [best(pools, room_bytes).cost.total_cycles for room_bytes in (WHOLE, 600, 400, 200)]
    assert cycles == sorted(cycles)


def test_two_loops_are_cut_where_one_is_not_enough(pools: Any) -> None:
    assert {len(best(pools, room).region.hops[0].nest) for room in (600, 400)} == {1}
    small = next(
        room for room in range(200, 16, -8) if best_groups(within(pools, room), "single", most_cycles=1e6) == ()
    )
    assert len(best(pools, small).region.hops[0].nest) == 2


def test_nothing_where_nothing_fits(pools: Any) -> None:
    assert best_groups(within(pools, 16), "auto") == ()


def test_second_buffers_where_there_is_room(pools: Any) -> None:
    single, double = best(pools, 800), best(pools, 800, "auto")
    assert {copy.buffers for copy in single.region.hops[0].copies.values()} == {1}
    assert double.cost.total_cycles < single.cost.total_cycles
    assert double.cost.scratchpad_bytes <= 800


@pytest.mark.parametrize("weight", [0.0, 0.4])
def test_each_weight_has_the_lowest_score_of_all(pools: Any, weight: float) -> None:
    fast, sparing = best_groups(within(pools, 600), "auto", (0.0, 0.4))
    assert score({0.0: fast, 0.4: sparing}[weight].cost, weight) == min(
        score(one.cost, weight) for one in (fast, sparing)
    )


def test_bytes_weigh_up_to_a_limit(pools: Any) -> None:
    cost = best(pools, 600).cost
    twice = replace(cost, total_cycles=100.0, in_bytes=cost.bound_bytes, out_bytes=cost.bound_bytes)
    assert score(twice, 0.0) == 100
    assert score(twice, 0.5) == 100 * (1 + 0.5 * 2)
    assert score(replace(twice, in_bytes=99 * cost.bound_bytes), 0.5) == 100 * (1 + 0.5 * MOST_TRAFFIC)
    assert score(replace(twice, bound_bytes=0, in_bytes=1, out_bytes=0), 1.0) == 200


def test_what_takes_too_long_is_not_looked_for(pools: Any) -> None:
    found = best(pools, 600)
    assert best_groups(within(pools, 600), "single", most_cycles=found.cost.compute_cycles * 0.5) == ()


def test_kernels_are_called_with_trips_that_they_take(pools: Any) -> None:
    """Rows of the last pool in fours."""
    analysis = within(pools, 700)
    space = analysis.sink.space
    fours = replace(space, kernel=replace(space.kernel, multiples={"h": 4}))
    sink = replace(analysis.sink, spaces=(fours,))
    (found,) = best_groups(replace(analysis, members=(*analysis.members[:-1], sink)), "single")
    assert dict(found.region.hops[0].nest).get("h", 4) % 4 == 0


def test_a_transfer_that_is_not_legal_is_no_tiling(pools: Any) -> None:
    analysis = within(pools, 700)
    first = analysis.members[0]
    odd = replace(first.space, copied=tuple(replace(one, aligned_offset=False) for one in first.space.copied))
    members = (replace(first, spaces=(odd,)), *analysis.members[1:])
    assert best_groups(replace(analysis, members=members), "auto") == ()


# --- a reduction of the sink in parts


def widened(channels: int, size: int, room_bytes: int) -> tuple[Scheduled, RegionAnalysis]:
    """Four channels become many and four again, as in an inverted bottleneck: steps a, b, c."""
    sketch = Sketch(operators=vocabulary())
    weights = (np.ones(shape, np.float32) for shape in ((channels, 4, 1, 1), (4, channels, 1, 1)))
    wide, narrow = map(sketch.constant, weights)
    a = sketch.node("Conv", (sketch.input("x", DType.F32, (1, 4, size, size)), wide), ONE_BY_ONE, "a")
    c = sketch.node("Conv", (sketch.node("Clip", (a,), {"min": 0.0}, "b"), narrow), ONE_BY_ONE, "c")
    machine = cluster(RUNTIME_BYTES + room_bytes)
    bound = bind(sketch.finish(c), machine, vocabulary(), portable_kernels(), Decisions())
    scheduled = schedule(bound, vocabulary(), Decisions(in_place={"b:0": ""}))
    found = region_analysis(ScheduledMachine(scheduled, vocabulary(), Decisions()), 0, scheduled.steps)
    assert isinstance(found, RegionAnalysis), found
    return scheduled, found


@pytest.mark.parametrize("room_bytes", [8000, 4000, 2000, 1000])
def test_what_the_sink_adds_up_is_computed_in_parts_where_weights_are_many(room_bytes: int) -> None:
    """All of them are 8 KiB; what comes in and goes out, and the sums in it, 128 bytes."""
    scheduled, analysis = widened(256, 2, room_bytes)
    (found,) = best_groups(analysis, "single")
    (cut,) = found.region.hops[0].nest
    sums = SplitReduction(loops=(cut.loop,), dtype=DType.F32, in_output=True)
    assert found.region.sums == {"c": sums}
    assert found.cost.scratchpad_bytes <= room_bytes
    assert found.cost == altogether(region_costs(analysis, found.region))
    assert found.cost.in_bytes + found.cost.out_bytes == 8 * 1024 + 128, "everything is copied once"
    together = Decisions(groups=(("a", "b", "c"),), in_place={"b:0": ""})
    tiled = tile(scheduled, vocabulary(), StepTiler(name="auto", summary=""), together)
    assert [region.sums for region in tiled.regions] == [{"c": sums}]
    assert check_tiles(tiled, vocabulary()) == ()


def test_parts_of_a_reduction_inside_parts_of_the_image_only_where_a_group_is_asked_for() -> None:
    _, analysis = widened(64, 12, 700)
    (found,) = best_groups(analysis, "single")
    *_, last = found.region.hops[0].nest
    assert len(found.region.hops[0].nest) == 2
    assert found.region.sums["c"].loops == (last.loop,)
    assert best_groups(analysis, "single", most_cycles=1e9) == ()


def test_sums_in_parts_cost_no_less_than_the_least() -> None:
    _, analysis = widened(256, 2, 2000)
    least = least_cost(analysis)
    (found,) = best_groups(analysis, "auto")
    assert least.cycles <= found.cost.total_cycles
    assert least.moved_bytes <= found.cost.in_bytes + found.cost.out_bytes
    assert least_bytes(analysis, split=True) <= found.cost.scratchpad_bytes < least_bytes(analysis)
