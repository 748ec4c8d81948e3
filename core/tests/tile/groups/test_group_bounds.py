"""What groups cost at least: no tiling that is found goes below, and what is left out for it is not missed."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest

from row_networks import row_network
from tilewright.bind import bind
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Group, Scheduled
from tilewright.ir.plans.tiler import TilingRequest
from tilewright.ir.tensors.dtypes import DType
from tilewright.schedule import schedule
from tilewright.testing.cluster import cluster
from tilewright.testing.one_step import portable_kernels, vocabulary
from tilewright.testing.sketch import Sketch
from tilewright.tile.grouping import _WEIGHTS, Grouping, Partition, nothing_resident
from tilewright.tile.groups.group_bounds import least_bytes, least_cost
from tilewright.tile.groups.group_search import best_groups
from tilewright.tile.machine import ScheduledMachine
from tilewright.tile.space.fusion import RegionAnalysis, StepAnalyses, region_analysis
from tilewright.tile.strategies import StepTiler

COST = StepTiler(name="cost", summary="")
SQUARE = {"kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1), "ceil_mode": 0}
SEEDS = range(6)
SIZES = (1 << 13, 1 << 16)  # of the scratchpad, in bytes


@cache
def scheduled(seed: int, scratchpad_bytes: int) -> Scheduled:
    graph = row_network(seed, vocabulary()).graph
    bound = bind(graph, cluster(scratchpad_bytes), vocabulary(), portable_kernels(), Decisions())
    return schedule(bound, vocabulary(), Decisions())


def analyses(plan: Scheduled) -> Iterator[RegionAnalysis]:
    """All segments of two to four steps that can be a group."""
    machine = ScheduledMachine(plan, vocabulary(), Decisions())
    for count in (2, 3, 4):
        for first in range(len(plan.steps) - count + 1):
            found = region_analysis(machine, first, plan.steps[first : first + count])
            if isinstance(found, RegionAnalysis):
                yield found


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_that_is_found_goes_below(seed: int) -> None:
    for size in SIZES:
        for one in analyses(scheduled(seed, size)):
            least, least_room = least_cost(one), least_bytes(one)
            for found in best_groups(one, "auto", (0.2, 0.0)):
                assert least.cycles <= found.cost.total_cycles
                assert least.moved_bytes <= found.cost.in_bytes + found.cost.out_bytes
                assert least_room <= found.cost.scratchpad_bytes


def planned(seed: int, scratchpad_bytes: int) -> tuple[Group, ...]:
    plan = scheduled(seed, scratchpad_bytes)
    return COST.plan(TilingRequest(scheduled=plan, operators=vocabulary(), decisions=Decisions()))


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_left_out_is_not_missed(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    quick = {size: planned(seed, size) for size in SIZES}
    monkeypatch.setattr(Grouping, "_least_of", lambda *_: float("-inf"))
    assert {size: planned(seed, size) for size in SIZES} == quick


def chain() -> Graph:
    """Convolutions whose weights are much larger than the values between them, which stay near."""
    sketch = Sketch(operators=vocabulary())
    value = sketch.input("x", DType.F32, (1, 16, 8, 8))
    for name in "abcd":
        attributes = {**SQUARE, "group": 1}
        value = sketch.node("Conv", (value, sketch.constant(np.ones((16, 16, 3, 3), np.float32))), attributes, name)
    return sketch.finish(value)


def grouping_of(size: int) -> Grouping:
    """Of the chain, with nothing resident in a scratchpad of that size."""
    bound = bind(chain(), cluster(size), vocabulary(), portable_kernels(), Decisions())
    plan = schedule(bound, vocabulary(), Decisions())
    machine = ScheduledMachine(plan, vocabulary(), Decisions())
    step_tilings = COST.step_tilings(
        machine, TilingRequest(scheduled=plan, operators=vocabulary(), decisions=Decisions())
    )
    return Grouping(
        step_tilings=step_tilings,
        plan=nothing_resident(step_tilings),
        buffering="auto",
        longest=None,
        known={},
        analyses=StepAnalyses(machine),
    )


def test_nothing_is_tiled_for_a_plan_that_cannot_win(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tilewright.tile.grouping.best_groups", lambda *_: pytest.fail("is searched"))
    assert grouping_of(1 << 14).partition((), search=True, other=Partition(merit=(0, 0.0), groups=())) is None


@pytest.mark.slow
@pytest.mark.parametrize("size", [1 << 14, 1 << 16])
def test_only_a_better_partition_is_an_answer(size: int) -> None:
    found = grouping_of(size).partition((), search=True)
    assert found is not None
    place, score = found.merit
    bounds = grouping_of(size)._bounds(_WEIGHTS[place], float("inf"))
    assert bounds is not None and bounds.total == pytest.approx(score)
    for other, better in (((place, score * 1.01), True), ((place + 1, 0.0), True), ((place, score * 0.99), False)):
        again = grouping_of(size).partition((), search=True, other=Partition(merit=other, groups=()))
        assert (again is not None and again.merit == found.merit) is better


def test_rows_that_no_tile_needs_are_not_counted() -> None:
    """Every fourth row of a clip is pooled: in tiles of one row the others are never computed."""
    sketch = Sketch(operators=vocabulary())
    a = sketch.node("Clip", (sketch.input("x", DType.F32, (1, 64, 16, 64)),), {"min": 0.0}, "a")
    every = {"kernel_shape": (1, 1), "strides": (4, 1), "dilations": (1, 1), "pads": (0, 0, 0, 0), "ceil_mode": 0}
    graph = sketch.finish(sketch.node("MaxPool", (a,), every, "b"))
    plan = schedule(
        bind(graph, cluster(1 << 20), vocabulary(), portable_kernels(), Decisions()), vocabulary(), Decisions()
    )
    analysis = region_analysis(ScheduledMachine(plan, vocabulary(), Decisions()), 0, plan.steps)
    assert isinstance(analysis, RegionAnalysis)
    (found,) = best_groups(analysis, "auto")
    assert [cut.size for cut in found.region.hops[-1].nest if cut.loop == "h"] == [1]
    assert least_cost(analysis).cycles <= found.cost.total_cycles
