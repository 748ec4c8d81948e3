"""When steps are computed by rows: only to fit, or for less memory where that is asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from portable_plans import portable_planner
from row_networks import ONE_MEMORY, row_network
from tilewright.errors import TilewrightError
from tilewright.ir.graphs.graph import Attribute
from tilewright.ir.plans.stages import Allocated
from tilewright.ir.tensors.dtypes import DType
from tilewright.plan.kernel_fallback import Fitting
from tilewright.plan.line_buffers import choice as row_choice
from tilewright.plan.line_buffers.candidates import line_buffer_candidates
from tilewright.plan.line_buffers.choice import (
    BALANCED,
    faster_line_buffered,
    planned_candidate,
    planned_well,
    smallest_plan,
)
from tilewright.plan.line_buffers.plan_costs import line_buffer_notes
from tilewright.plan.proposals.planner import Planner, ram_bytes
from tilewright.plan.suggestions import with_memories
from tilewright.testing.one_step import vocabulary
from tilewright.testing.sketch import Sketch
from tilewright.tile.strategies import WholeTiler

Planned = Callable[..., Allocated]
WIDE = 6  # a network of which columns that are computed again take less


def by_rows(plan: Allocated) -> bool:
    """Whether any steps are."""
    return any(region.line_buffers is not None for region in plan.tiled.regions)


def test_speed_computes_nothing_together_where_everything_fits(planned: Planned) -> None:
    assert not by_rows(planned())
    assert list(line_buffer_notes(planned(), vocabulary())) == []


def convolved(taps: int, planner: Planner) -> Allocated:
    """A plan of a convolution alone."""
    sketch = Sketch(operators=vocabulary())
    x = sketch.input("x", DType.F32, (1, 1, 32, 128))
    w = sketch.constant(np.ones((1, 1, taps, taps), np.float32))
    attributes: dict[str, Attribute] = {
        "kernel_shape": (taps, taps),
        "strides": (1, 1),
        "dilations": (1, 1),
        "group": 1,
    }
    attributes["pads"] = (taps // 2,) * 4
    return Fitting(planner=planner).plan(
        planner.bind(sketch.finish(sketch.node("Conv", (x, w), attributes)), ONE_MEMORY)
    )


@pytest.mark.parametrize(("taps", "free"), [(9, True), (1, False)])
def test_speed_lets_an_output_take_what_its_step_reads_where_calls_are_few_cycles(
    taps: int, free: bool, fastest: Planner
) -> None:
    plan = convolved(taps, fastest)
    assert by_rows(plan) == free
    assert all(len(region.steps) == 1 for region in plan.tiled.regions)
    assert [note.message[:30] for note in line_buffer_notes(plan, vocabulary())] == [
        "1 step is computed row by row:"
    ] * free


def test_the_tiler_for_whole_layers_leaves_them_in_one_piece(fastest: Planner) -> None:
    assert not by_rows(convolved(9, replace(fastest, tiler=WholeTiler())))


@pytest.mark.slow
def test_of_ways_that_take_the_same_the_fastest_is_planned(
    monkeypatch: pytest.MonkeyPatch, fastest: Planner, planned: Planned
) -> None:
    """The first may take less at best, and does not."""
    whole_, found = planned(), planned("ram")
    plans = {1.009: found, 1.001: replace(found)}
    (one, *_) = line_buffer_candidates(fastest, whole_.tiled.scheduled, None)
    size = ram_bytes(found)
    ways = [replace(one, size_bytes=size - 100, cycle_ratio=1.009), replace(one, size_bytes=size, cycle_ratio=1.001)]
    monkeypatch.setattr(row_choice, "planned_candidate", lambda planner, way, platform: plans[way.cycle_ratio])
    assert smallest_plan(fastest, whole_, ways, 2) is plans[1.001]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [5, 18])
def test_where_a_way_takes_more_than_its_least_a_roomier_one_is_tried(seed: int, fastest: Planner) -> None:
    """The fullest segments need what they need; the others are the fastest that are no fuller."""
    plan = fastest.best(fastest.bind(row_network(seed, vocabulary()).graph, ONE_MEMORY))
    assert isinstance(plan, Allocated)
    smaller = 0
    for way in line_buffer_candidates(fastest, plan.tiled.scheduled, None):
        found = {one: planned_well(replace(fastest, optimize=one), way, ONE_MEMORY) for one in ("ram", "speed")}
        only = planned_candidate(fastest, way, ONE_MEMORY)
        sizes = {one: ram_bytes(answer) for one, (_, answer) in found.items() if isinstance(answer, Allocated)}
        assert isinstance(only, Allocated) and found["speed"][0] is way
        assert sizes["ram"] <= sizes["speed"] == ram_bytes(only)
        assert sizes["ram"] >= found["ram"][0].size_bytes
        assert sizes["ram"] == ram_bytes(only) or ram_bytes(only) > way.size_bytes
        smaller += sizes["ram"] < sizes["speed"]
    assert smaller


def test_balanced_takes_no_roomier_way_that_is_slower_than_it_may_be(
    monkeypatch: pytest.MonkeyPatch, fastest: Planner, planned: Planned
) -> None:
    whole_, small = planned(), planned("ram")
    way = next(one for one in line_buffer_candidates(fastest, whole_.tiled.scheduled, None) if one.least_memory())
    way = replace(way, size_bytes=0, cycle_ratio=BALANCED)  # the roomier one is slower still
    plans = {BALANCED: whole_}
    monkeypatch.setattr(
        row_choice, "planned_candidate", lambda planner, one, platform: plans.get(one.cycle_ratio, small)
    )
    assert planned_well(replace(fastest, optimize="balanced"), way, ONE_MEMORY) == (way, whole_)
    assert planned_well(replace(fastest, optimize="ram"), way, ONE_MEMORY)[1] is small


def test_balanced_is_no_more_than_a_tenth_slower(planned: Planned) -> None:
    fast, balanced = planned(), planned("balanced")
    cycles = [sum(group.cycles for group in plan.tiled.groups) for plan in (fast, balanced)]
    assert cycles[1] <= BALANCED * cycles[0]
    assert ram_bytes(planned("ram")) <= ram_bytes(balanced) <= ram_bytes(fast)


@pytest.mark.slow
def test_a_limit_alone_gets_there(planned: Planned) -> None:
    limit = ram_bytes(planned("ram"))
    plan = planned("speed", limit)
    assert by_rows(plan) and ram_bytes(plan) <= limit


@pytest.mark.slow
def test_of_what_fits_the_fastest_is_taken(planned: Planned) -> None:
    most, least = ram_bytes(planned()), ram_bytes(planned("ram"))
    plan = planned("speed", most - 1)
    assert least <= ram_bytes(plan) < most
    slow = sum(group.cycles for group in planned("ram").tiled.groups)
    assert sum(group.cycles for group in plan.tiled.groups) <= slow


@pytest.mark.slow
def test_what_rows_cannot_do_either_does_not_fit(planned: Planned) -> None:
    with pytest.raises(TilewrightError, match="does not fit"):
        planned("ram", 64)


def striped(plan: Allocated) -> bool:
    """Whether any columns are computed in stripes."""
    return any(
        region.line_buffers is not None and region.line_buffers.stripes is not None for region in plan.tiled.regions
    )


@pytest.mark.slow
def test_computing_columns_again_takes_less_memory(planned: Planned) -> None:
    plan = planned("ram", seed=WIDE, recompute=10.0)
    assert striped(plan) and ram_bytes(plan) < ram_bytes(planned("ram", seed=WIDE))
    limit = ram_bytes(planned("ram", seed=WIDE)) - 1
    assert ram_bytes(planned("speed", limit, seed=WIDE, recompute=10.0)) <= limit


@pytest.mark.slow
@pytest.mark.parametrize("recompute", [1.0, 10.0])
def test_decisions_of_a_plan_give_it_again(recompute: float, planned: Planned) -> None:
    plan = planned("ram", seed=WIDE, recompute=recompute)
    planner = portable_planner(pins=plan.decisions)
    again = planner.plan(planner.bind(row_network(WIDE, vocabulary()).graph, ONE_MEMORY))
    assert again.placements == plan.placements and again.tiled.regions == plan.tiled.regions


@pytest.mark.parametrize("times", [1, 3])
def test_rows_are_taken_where_what_fits_in_one_piece_is_slower(fastest: Planner, planned: Planned, times: int) -> None:
    """What fits has other kernels; these are `times` slower than the fastest, which do not fit."""
    plan = planned()
    groups = tuple(replace(group, cycles=times * group.cycles) for group in plan.tiled.groups)
    slow = replace(plan, tiled=replace(plan.tiled, groups=groups))
    bound = with_memories(plan.tiled.scheduled.bound, {"ram": ram_bytes(plan) - 1})
    misfits = fastest.best(bound)
    assert not isinstance(misfits, Allocated)
    found = faster_line_buffered(fastest, slow, misfits[0], None)
    assert by_rows(found) == (times == 3)
    assert found is slow or ram_bytes(found) < ram_bytes(plan)
    assert faster_line_buffered(replace(fastest, tiler=WholeTiler()), slow, misfits[0], None) is slow
