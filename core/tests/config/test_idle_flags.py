"""Flags that changed nothing about a plan are named, with the reason; the others are not."""

from __future__ import annotations

from typing import Any

import pytest

from portable_plans import portable_planner
from row_networks import ONE_MEMORY, row_network
from tilewright.config.idle_flags import CUTTING, idle_flags
from tilewright.config.options import Options
from tilewright.ir.machines.platform import Platform
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Allocated
from tilewright.plan.kernel_fallback import Fitting
from tilewright.testing.cluster import CLUSTER
from tilewright.testing.one_step import vocabulary
from tilewright.tile.strategies import TILERS, StepTiler


def planned(platform: Platform = ONE_MEMORY, **asked: Any) -> Allocated:
    planner = portable_planner(**asked)
    answer = Fitting(planner=planner).plan(planner.bind(row_network(0, vocabulary()).graph, platform))
    assert isinstance(answer, Allocated)
    return answer


def said(plan: Allocated, **asked: Any) -> tuple[str, ...]:
    notes = tuple(idle_flags(plan, Options(**asked)))
    assert all((note.code, note.severity) == ("TW1123", "note") for note in notes)
    return tuple(line for note in notes for line in note.details)


@pytest.mark.slow
def test_flags_that_were_followed_are_not_named() -> None:
    assert not said(planned())
    assert not said(planned(optimize="ram", recompute=1.2), optimize="ram", recompute=1.2)


@pytest.mark.parametrize(
    ("asked", "begins", "reason"),
    [
        ({"buffering": "double"}, "--buffering double: ", "has no scratchpad"),
        ({"tiler": "min"}, "--tiler min: ", "has no scratchpad"),
        ({"recompute": 1.2}, "--recompute 1.2: ", "speed is asked for, and the plan fits"),
        ({"optimize": "ram"}, "--optimize ram: ", "no such plan takes less memory"),
        ({"optimize": "balanced"}, "--optimize balanced: ", "at most 10 % slower"),
        ({"optimize": "ram", "pins": Decisions(groups=(("a",),))}, "--optimize ram: ", "groups are pinned"),
    ],
)
def test_on_one_memory(asked: dict[str, Any], begins: str, reason: str) -> None:
    (line,) = said(planned(), **asked)  # by layers, as if rows had given nothing
    assert line.startswith(begins)
    assert reason in line


@pytest.mark.slow
def test_on_a_cluster() -> None:
    plan = planned(CLUSTER)
    assert not said(plan, buffering="double", tiler="min")
    rows = said(plan, optimize="ram", recompute=1.5)
    assert [line.split(":")[0] for line in rows] == ["--optimize ram", "--recompute 1.5"]
    assert all("is no machine with one memory and one core" in line for line in rows)


@pytest.mark.slow
def test_a_pin_of_a_value_that_passes_between_steps_that_run_as_one() -> None:
    plan = planned(CLUSTER)
    region = next(region for region in plan.tiled.regions if region.unmaterialised)
    value = region.unmaterialised[0]
    (note,) = idle_flags(plan, Options(), {value: "l2"})
    (line,) = note.details
    assert line.startswith(f"--pin {value}=l2: it is only in 'l1', tile by tile: steps {region.steps[0]}")
    assert note.fix[0].startswith("--groups 1 ")
    assert not tuple(idle_flags(plan, Options(), {value: "l1", region.name: "l2"}))  # kept; not a value
    assert not tuple(idle_flags(plan, Options(pins=Decisions(memories={value: "l2"})), {value: "l2"}))


def test_tilers_that_need_a_scratchpad_are_the_built_in_ones() -> None:
    assert {*CUTTING, "auto"} == {tiler.name for tiler in TILERS if isinstance(tiler, StepTiler)}
    assert not said(planned(), tiler="whole")  # it forbids rows
    assert not said(planned(), tiler="acme-tiler")  # who knows
