"""Values that stay in the scratchpad: the choice against trying everything, its limits, and plans made again of it."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache
from itertools import combinations

import pytest

from tilewright.allocate.best_fit import BestFit
from tilewright.bind import bind
from tilewright.errors import TilewrightError
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.ir.plans.allocation import Budget
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.region import key_of
from tilewright.ir.plans.stages import Allocated, Bound
from tilewright.ir.plans.tiler import TilingRequest
from tilewright.plan.proposals.planner import Planner
from tilewright.schedule import schedule
from tilewright.testing.cluster import RUNTIME_BYTES, cluster, copy_path
from tilewright.testing.one_step import portable_kernels, vocabulary
from tilewright.testing.random_graphs import random_graph
from tilewright.tile.machine import ScheduledMachine
from tilewright.tile.measure import step_costs
from tilewright.tile.search.residency import ResidencyPlan, ResidencySearch, may_be_resident
from tilewright.tile.strategies import TILERS

COST = next(tiler for tiler in TILERS if tiler.name == "cost")
SEEDS = range(14)


def platform(scratchpad_bytes: int, *, nested: bool = False) -> Platform:
    base = cluster(scratchpad_bytes + RUNTIME_BYTES)
    if not nested:
        return base
    return replace(
        base,
        memories=(
            Memory(name="l3", size_bytes=None),
            *(replace(one, size_bytes=700) if one.name == "l2" else one for one in base.memories),
        ),
        copies=(*base.copies, copy_path("l3", "l2"), copy_path("l2", "l3"), copy_path("flash", "l2")),
        backing="l3",
    )


@cache
def bound(seed: int, scratchpad_bytes: int, nested: bool = False) -> Bound:
    graph = random_graph(random.Random(seed), vocabulary(), most_nodes=12)
    return bind(graph, platform(scratchpad_bytes, nested=nested), vocabulary(), portable_kernels(), Decisions())


def planner(longest: int | None = None, pins: Decisions | None = None) -> Planner:
    return Planner(
        operators=vocabulary(),
        kernels=portable_kernels(),
        tiler=COST,
        allocator=BestFit(),
        pins=pins or Decisions(),
        longest=longest,
        budget=Budget(work=4_000),
    )


def cycles(plan: Allocated) -> float:
    return sum(group.cycles for group in plan.tiled.groups)


def kept(plan: Allocated) -> dict[str, str]:
    return {value: memory for group in plan.tiled.groups for value, memory in group.region.resident.items()}


@pytest.mark.slow
@pytest.mark.parametrize("nested", [False, True])
def test_plans_are_sound_and_never_slower(nested: bool) -> None:
    """The planner's own checks go through every tile and every byte; a limit that does not hold is an error there."""
    some = 0
    for seed in SEEDS:
        for scratchpad_bytes in (160, 1500):
            try:
                alone = planner(1).plan(bound(seed, scratchpad_bytes, nested))
            except TilewrightError as error:
                assert error.code in ("TW5101", "TW5001")
                continue
            plan = planner().plan(bound(seed, scratchpad_bytes, nested))
            assert not kept(alone)
            assert cycles(plan) <= cycles(alone) * (1 + 1e-9)
            some += bool(kept(plan))
            places = {value: plan.placements[plan.tiled.scheduled.storage[value].buffer] for value in kept(plan)}
            assert {value: place.memory for value, place in places.items()} == kept(plan)
    assert some > 10


def test_kept_values_do_not_travel() -> None:
    plan = planner().plan(bound(3, 1500))
    assert kept(plan)
    costs = step_costs(plan.tiled, vocabulary(), plan.decisions)
    alone = planner(1).plan(bound(3, 1500))
    before = step_costs(alone.tiled, vocabulary(), alone.decisions)

    def total(found: dict[str, tuple[object, ...]], field: str) -> int:
        return sum(getattr(hop, field) for hops in found.values() for hop in hops)

    assert total(dict(costs), "bound_bytes") == total(dict(before), "bound_bytes")
    assert total(dict(costs), "in_bytes") < total(dict(before), "in_bytes")
    for group in plan.tiled.groups:
        operands = ScheduledMachine(plan.tiled.scheduled, vocabulary(), plan.decisions).operands(
            next(step for step in plan.tiled.scheduled.steps if step.name == group.name)
        )
        near = {key_of(group.name, item.name) for item in operands if item.memory == "l1"}
        assert near.isdisjoint(*(hop.copies for hop in group.region.hops))


@pytest.mark.slow
@pytest.mark.parametrize("longest", [1, 2, 3])
def test_chains_are_no_longer_than_asked(longest: int) -> None:
    for seed in SEEDS:
        plan = planner(longest).plan(bound(seed, 1500))
        buffers = [one for one in plan.tiled.buffers if one.kind == "activation" and one.memories == ("l1",)]
        length = 1
        for index in range(1, len(plan.tiled.groups)):
            joined = any(buffer.first < index <= buffer.last for buffer in buffers)
            length = length + 1 if joined else 1
            assert length <= longest


@pytest.mark.slow
@pytest.mark.parametrize("traffic", [0.2, 0.0])
def test_the_choice_is_the_best_of_all_sets(traffic: float) -> None:
    tried = 0
    for seed in range(40):
        for scratchpad_bytes in (120, 300, 700):
            scheduled = schedule(bound(seed, scratchpad_bytes), vocabulary(), Decisions())
            machine = ScheduledMachine(scheduled, vocabulary(), Decisions())
            request = TilingRequest(scheduled=scheduled, operators=vocabulary(), decisions=Decisions())
            step_tilings = COST.step_tilings(machine, request)
            tilings = [step_tilings.tiling(index) for index in range(len(scheduled.steps))]
            names = [buffer.name for buffer in may_be_resident(machine, "l1", {})]
            if None in tilings or not 0 < len(names) <= 6:
                continue
            alone = [tiling for tiling in tilings if tiling is not None]
            choice = ResidencySearch(step_tilings, "l1", {}, None, alone)
            plan = choice.best(traffic)
            assert plan is not None
            every = [
                score
                for count in range(len(names) + 1)
                for some in combinations(names, count)
                if (score := scored(choice, frozenset(some), traffic)) is not None
            ]
            assert of_plan(choice, plan, traffic) == pytest.approx(min(every))
            tried += len(every)
    assert tried > 60


def scored(choice: ResidencySearch, names: frozenset[str], traffic: float) -> float | None:
    """What keeping exactly these costs; None where a step does not fit beside them."""
    total = 0.0
    for index in range(len(choice.starting)):
        here = frozenset(name for name in names if choice.buffers[name].first <= index <= choice.buffers[name].last)
        tiling = choice.tiling(here, index)
        if tiling is None:
            return None
        total += tiling.cycles + traffic * choice.traffic(index, tiling)
    return total


def of_plan(choice: ResidencySearch, plan: ResidencyPlan, traffic: float) -> float:
    return sum(tiling.cycles + traffic * choice.traffic(index, tiling) for index, tiling in enumerate(plan.tilings))


@pytest.mark.slow
def test_a_plan_pinned_is_the_same_plan() -> None:
    for seed in (1, 3, 5, 8):
        plan = planner().plan(bound(seed, 1500))
        again = planner(pins=plan.decisions).plan(bound(seed, 1500))
        assert again.placements == plan.placements
        assert [group.region for group in again.tiled.groups] == [group.region for group in plan.tiled.groups]
        assert cycles(again) == pytest.approx(cycles(plan))


@pytest.mark.slow
def test_a_value_pinned_to_the_home_memory_travels() -> None:
    plan = planner().plan(bound(3, 1500))
    value = next(iter(kept(plan)))
    pinned = planner(pins=Decisions(memories={value: "l2"})).plan(bound(3, 1500))
    assert value not in kept(pinned)
    assert pinned.placements[pinned.tiled.scheduled.storage[value].buffer].memory == "l2"
