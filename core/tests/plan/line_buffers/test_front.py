"""The front of bytes against cycles: no point beats another, and flags lead to each."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise

import pytest

from portable_plans import portable_planner
from row_networks import ONE_MEMORY, row_network
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.ir.plans.stages import Allocated
from tilewright.plan.kernel_fallback import Fitting
from tilewright.plan.line_buffers.front import FrontPoint, memory_front
from tilewright.plan.proposals.planner import Optimize, ram_bytes
from tilewright.testing.one_step import vocabulary

SEEDS = range(6)
PLANNER = portable_planner()


def limited(size_bytes: int | None) -> Platform:
    return replace(ONE_MEMORY, memories=(Memory(name="ram", size_bytes=size_bytes),))


def planned(seed: int, optimize: Optimize = "speed", size_bytes: int | None = None) -> Allocated:
    bound = PLANNER.bind(row_network(seed, vocabulary()).graph, limited(size_bytes))
    return Fitting(planner=replace(PLANNER, optimize=optimize)).plan(bound)


@cache
def front(seed: int, optimize: Optimize = "speed") -> tuple[FrontPoint, ...]:
    plan = planned(seed, optimize)
    return memory_front(replace(PLANNER, optimize=optimize), plan, plan.tiled.scheduled.bound, None)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_less_memory_costs_more_cycles(seed: int) -> None:
    points = front(seed)
    assert [one.chosen for one in points] == [True, *[False] * (len(points) - 1)]
    for one, other in pairwise(points):
        assert one.ram_bytes > other.ram_bytes and one.cycle_ratio <= other.cycle_ratio


@pytest.mark.slow
@pytest.mark.parametrize("seed", (*SEEDS, 13, 15))
def test_it_is_found_too_where_the_plan_is_by_rows_already(seed: int) -> None:
    least = front(seed, "ram")
    assert min(one.ram_bytes for one in least) <= min(one.ram_bytes for one in front(seed))
    assert max(one.ram_bytes for one in least) == max(one.ram_bytes for one in front(seed))


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_flags_lead_to_each_point(seed: int) -> None:
    for one in front(seed):
        if one.chosen:
            assert one.flags == ""
            continue
        word, _, value = one.flags.partition(" ")
        if word == "--optimize":
            optimize: Optimize = "ram" if value == "ram" else "balanced"
            assert ram_bytes(planned(seed, optimize)) <= one.ram_bytes
        else:
            memory, _, size = value.partition("=")
            assert (word, memory) == ("--memory", "ram")
            assert ram_bytes(planned(seed, size_bytes=int(size))) <= one.ram_bytes


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_the_plan_of_least_memory_knows_the_fastest_one(seed: int) -> None:
    points, others = front(seed, "ram"), front(seed)
    assert points[0].ram_bytes == others[0].ram_bytes
    assert next(one for one in points if one.chosen).ram_bytes == others[-1].ram_bytes


def test_where_rows_are_not_possible_there_is_one_point() -> None:
    plan = planned(0)
    pinned = replace(PLANNER, pins=replace(PLANNER.pins, groups=(("a",),)))
    (one,) = memory_front(pinned, plan, plan.tiled.scheduled.bound, None)
    assert one.chosen and one.ram_bytes == ram_bytes(plan)


def test_where_cores_share_steps_there_is_none() -> None:
    plan = planned(0)
    bound = plan.tiled.scheduled.bound
    team = replace(bound.platform, engines=(replace(bound.platform.engines[0], cores=8),))
    assert memory_front(PLANNER, plan, replace(bound, platform=team), None) == ()
