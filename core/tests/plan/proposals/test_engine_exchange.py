"""Of two branches that the engine is faster at one is the cores', or the other way round, where both are shorter so."""

from __future__ import annotations

from typing import Any

import pytest
from engine_plans import two_jobs

from tilewright.deployment import Deployment
from tilewright.ir.plans.decisions import Decisions
from tilewright.plan.proposals.deferred_waits import Unit, makespan, units_of
from tilewright.plan.proposals.engine_exchange import worth_trying
from tilewright.plan.proposals.shortfall import choice_of
from tilewright.tile.machine import ScheduledMachine

PINNED = Decisions(kernels={"left": "made.clip", "right": "made.clip"})


def kernels(plan: Deployment) -> dict[str, str]:
    bindings = plan.allocated.tiled.scheduled.bound.bindings
    return {name: bindings[name].kernel.name for name in ("left", "right")}


def cycles(plan: Deployment) -> float:
    return sum(group.cycles for group in plan.allocated.tiled.groups)


def test_the_list_scheduler_says_how_long_all_take() -> None:
    def unit(cycles: float, *after: int, job: float = 0.0) -> Unit:
        return Unit(nodes=("u",), engine="npu" if job else "", cycles=cycles, job=job, after=frozenset(after))

    assert makespan((unit(100, job=90), unit(100, job=90), unit(5, 0, 1))) == 205
    assert makespan((unit(100, job=90), unit(60), unit(5, 0, 1))) == 105
    assert makespan((unit(100, job=90),)) == 100


@pytest.mark.parametrize("engine_cycles", [200.0, 350.0])
def test_one_of_two_branches_goes_to_the_cores(engine_cycles: float) -> None:
    """The cores take 300 for each: whoever is faster, both together are."""
    plan, pinned = two_jobs(engine_cycles=engine_cycles), two_jobs(PINNED, engine_cycles=engine_cycles)
    assert sorted(kernels(plan).values()) == ["made.clip", "portable.clip"]
    assert set(kernels(pinned).values()) == {"made.clip"}
    assert cycles(plan) < 0.96 * cycles(pinned)
    ((job, behind),) = plan.allocated.decisions.deferred.items()
    assert {job, behind} == {"left", "right"}
    decided = plan.allocated.decisions.kernels
    assert kernels(two_jobs(Decisions(kernels=decided), engine_cycles=engine_cycles)) == kernels(plan)


@pytest.mark.parametrize(
    ("pins", "more"),
    [
        (PINNED, {}),  # the user has decided
        (None, {"preferred": True}),  # the engine is to have whatever it can compute
        (None, {"engine_cycles": 60.0}),  # the cores take longer than both jobs
    ],
)
def test_steps_that_stay_with_the_engine(pins: Decisions | None, more: dict[str, Any]) -> None:
    plan = two_jobs(pins, **more)
    assert set(kernels(plan).values()) == {"made.clip"}
    allocated = plan.allocated
    machine = ScheduledMachine(allocated.tiled.scheduled, plan.registry.operators, allocated.decisions)
    choice = choice_of(machine.bound, plan.registry.operators, pins or Decisions())
    assert list(worth_trying(units_of(machine, allocated.tiled.groups), choice)) == []
