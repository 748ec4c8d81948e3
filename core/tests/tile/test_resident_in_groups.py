"""A value that passes between the steps of a group and that others read where it is resident: it cannot be both."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from tilewright.bind import bind
from tilewright.check.tiling import check_tiles
from tilewright.errors import TilewrightError
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Scheduled
from tilewright.ir.plans.tiler import TilingRequest
from tilewright.ir.tensors.dtypes import DType
from tilewright.schedule import schedule
from tilewright.testing.cluster import cluster
from tilewright.testing.one_step import portable_kernels, vocabulary
from tilewright.testing.sketch import Sketch
from tilewright.tile.grouping import Grouping
from tilewright.tile.machine import ScheduledMachine
from tilewright.tile.search.residency import ResidencyPlan
from tilewright.tile.space.fusion import StepAnalyses
from tilewright.tile.strategies import StepTiler
from tilewright.tile.tile import tile

COST = StepTiler(name="cost", summary="")
SIZE = 8 * 4 * 4  # bytes of every value but the last


@cache
def scheduled() -> Scheduled:
    """`a` is read by `b` and `c`, which follow it, and by `d` after them, as another shape."""
    sketch = Sketch(operators=vocabulary())
    a = sketch.node("Clip", (sketch.input("x", DType.F32, (8, 4)),), {"min": 0.0}, "a")
    b = sketch.node("Clip", (a,), {"max": 1.0}, "b")
    c = sketch.node("Add", (a, b), name="c")
    view = sketch.node("Reshape", (a,), {"shape": (4, 8)}, "view")
    d = sketch.node("ReduceSum", (view,), {"axes": (0,), "keepdims": 0}, "d")
    bound = bind(sketch.finish(c, d), cluster(1 << 15), vocabulary(), portable_kernels(), Decisions())
    apart = Decisions(order=("a", "b", "c", "view", "d"), in_place={f"{name}:0": "" for name in "abcd"})
    return schedule(bound, vocabulary(), apart)


def test_it_is_in_no_group_that_would_hold_parts_of_it() -> None:
    machine = ScheduledMachine(scheduled(), vocabulary(), Decisions())
    request = TilingRequest(scheduled=scheduled(), operators=vocabulary(), decisions=Decisions())
    tilings = COST.step_tilings(machine, request)
    found = [tilings.tiling(index, {"a:0": "l1"}, {"l1": SIZE}) for index in range(4)]
    plan = ResidencyPlan(tilings=tuple(one for one in found if one is not None), resident={"a:0": "l1"})
    assert len(plan.tilings) == 4
    grouping = Grouping(
        step_tilings=tilings, plan=plan, buffering="auto", longest=None, known={}, analyses=StepAnalyses(machine)
    )
    found = grouping.partition((), search=True)
    assert found is not None
    groups = found.groups
    assert groups[0].region.resident == {"a:0": "l1"}
    assert all("a:0" not in group.region.internal_values for group in groups)


@pytest.mark.parametrize("names", ["ab", "abc"])
def test_a_pinned_group_comes_first(names: str) -> None:
    """Nothing that it holds is resident for others."""
    made = tile(scheduled(), vocabulary(), COST, Decisions(groups=(tuple(names),)))
    (group,) = (one for one in made.groups if one.steps == tuple(names))
    assert group.region.internal_values["a:0"].live_out
    assert check_tiles(made, vocabulary()) == ()


@pytest.mark.parametrize("room", [3000, 6000, 12000, 20000, 28000])
def test_every_plan_is_sound(room: int) -> None:
    platform = cluster(room)
    plan = replace(scheduled(), bound=replace(scheduled().bound, platform=platform))
    assert check_tiles(tile(plan, vocabulary(), COST, Decisions()), vocabulary()) == ()


def test_what_is_pinned_to_the_scratchpad_is_whole_there() -> None:
    pins = Decisions(memories={"a:0": "l1"})
    made = tile(scheduled(), vocabulary(), COST, pins)
    assert all("a:0" not in group.region.internal_values for group in made.groups)
    assert check_tiles(made, vocabulary()) == ()
    with pytest.raises(TilewrightError, match="'a:0' is to be whole in 'l1'"):
        tile(scheduled(), vocabulary(), COST, replace(pins, groups=(("a", "b"),)))
