"""The planner proposes orders, carries them out, and keeps the best plan; what does not fit is an answer."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tilewright.allocate.best_fit import BestFit
from tilewright.errors import Exit, TilewrightError
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.region import Copy, Cut, Hop, Region, Tiles
from tilewright.ir.plans.stages import Allocated, Bound, PoolUse
from tilewright.ir.rounding import align_up
from tilewright.ir.tensors.dtypes import DType
from tilewright.plan.proposals.planner import Planner, least_useful, merit, ram_bytes
from tilewright.plan.proposals.shortfall import PlanFailure
from tilewright.plan.suggestions import with_memories
from tilewright.testing.cluster import RUNTIME_BYTES, cluster
from tilewright.testing.one_step import portable_kernels, vocabulary
from tilewright.testing.sketch import Sketch
from tilewright.tile.strategies import StepTiler, WholeTiler

WIDE = 64 * 4  # bytes of a wide value; a narrow one has a quarter


def fork() -> Graph:
    """Two branches that widen and narrow again, written down so that both wide values are alive together."""
    sketch = Sketch(operators=vocabulary())
    x = sketch.input("x", DType.F32, (1, 16))
    weights = {shape: np.ones(shape, np.float32) for shape in ((16, 64), (64, 16))}
    wide = [sketch.node("MatMul", (x, sketch.constant(weights[16, 64] * n)), name=f"wide{n}") for n in (1, 2)]
    narrow = [
        sketch.node("MatMul", (value, sketch.constant(weights[64, 16] * n)), name=f"narrow{n}")
        for n, value in enumerate(wide, 1)
    ]
    return sketch.finish(sketch.node("Add", narrow, name="sum"))


def platform(ram_bytes: int | None = None) -> Platform:
    return Platform(name="p", memories=(Memory(name="ram", size_bytes=ram_bytes),))


def planner(**changes: Any) -> Planner:
    given = {"tiler": WholeTiler(), "allocator": BestFit(), **changes}
    return Planner(operators=vocabulary(), kernels=portable_kernels(), **given)


def bound(ram_bytes: int | None = None) -> Bound:
    return planner().bind(fork(), platform(ram_bytes))


def test_the_best_order_is_kept() -> None:
    """One wide value at a time."""
    made = planner()
    first, best = made.first(bound()), made.plan(bound())
    assert isinstance(first, Allocated)
    assert ram_bytes(best) <= ram_bytes(first)
    assert ram_bytes(best) < 2 * WIDE
    assert best.order_bound_bytes is not None and best.order_bound_bytes <= ram_bytes(best)


def test_each_order_is_proposed_once_and_pins_overrule_it() -> None:
    orders = [one.order for one in planner().proposals(bound())]
    assert len(orders) == len(set(orders)) > 1
    pinned = ("wide1", "wide2", "narrow1", "narrow2", "sum")
    made = planner(pins=Decisions(order=pinned))
    assert [one.order for one in made.proposals(bound())] == [pinned]
    assert ram_bytes(made.plan(bound())) >= 2 * WIDE


def test_what_does_not_fit_is_an_answer_or_an_error() -> None:
    made, small = planner(), bound(256)
    reasons = made.best(small)
    assert isinstance(reasons, tuple) and all(isinstance(one, PlanFailure) for one in reasons)
    with pytest.raises(TilewrightError) as caught:
        made.plan(small)
    assert caught.value.exit_code is Exit.DOES_NOT_FIT
    assert caught.value is reasons[0].error or caught.value.code == reasons[0].error.code
    answer = made.attempt(small, Decisions())
    assert isinstance(answer, PlanFailure) and answer.overflow is not None
    with pytest.raises(TilewrightError):
        made.carry_out(small, Decisions())


HOP = Hop(outer="l2", inner="l1", nest=(Cut("m", 1),), copies={f"wide1.{name}": Copy(level=1) for name in "ABY"})
UNKNOWN = {
    "there is no step 'gone'": {"gone": Region(steps=("gone",))},
    "under 'wide1' are tiles of wide1, wide2": {"wide1": Region(steps=("wide1", "wide2"))},
    "under 'wide1' are tiles of no step": {"wide1": Region(steps=())},
    "step 'wide2' is tiled twice": {"wide1": Region(steps=("wide2", "wide2", "wide1"))},
    "step 'wide1' is tiled twice": {"wide1": Region(steps=("wide1",)), "wide2": Region(steps=("wide1", "wide2"))},
    "no such loop": {"wide1": Region(steps=("wide1",), schedule=Tiles(hops=(replace(HOP, inner="l9"),)))},
}


@pytest.mark.parametrize("reason", UNKNOWN)
def test_pinned_tiles_that_cannot_be_kept_say_so(reason: str) -> None:
    made = planner(tiler=StepTiler(name="cost", summary=""), pins=Decisions(tiles=UNKNOWN[reason]))
    with pytest.raises(TilewrightError) as caught:
        made.plan(made.bind(fork(), cluster()))
    assert caught.value.code == "TW4043"
    assert any(reason in line for line in caught.value.details)


def test_on_a_cluster_time_comes_first() -> None:
    made = planner(tiler=StepTiler(name="cost", summary=""))
    on_cluster = made.plan(made.bind(fork(), cluster(RUNTIME_BYTES + 4096)))
    assert merit(on_cluster)[0] == sum(group.cycles for group in on_cluster.tiled.groups) > 0
    assert merit(planner().plan(bound()))[0] == 0


def test_bytes_of_constants_are_no_ram() -> None:
    plan = planner().plan(bound())
    memory = plan.tiled.scheduled.bound.platform.of_kind("ram")[0]
    pool = PoolUse(memory=memory.name, kind="ram", used_bytes=9, limit_bytes=None, lower_bound_bytes=0, optimal=False)
    pools = tuple(replace(pool, kind=kind) for kind in ("ram", "const", "state", "resident"))
    assert ram_bytes(replace(plan, pools=pools)) == 2 * align_up(9, memory.align) + 9


def test_what_is_sent_home_first_is_the_smallest_that_makes_enough_room() -> None:
    plan = planner().plan(bound())
    values = ("wide1:0", "narrow1:0", "wide2:0")
    region = Region(steps=("sum",), resident=dict.fromkeys(values, "l1"))
    tiled = replace(plan.tiled, groups=(replace(plan.tiled.groups[0], region=region),))
    by_value = {value: one for one in plan.tiled.scheduled.buffers for value in one.values}
    live = tuple(by_value[value] for value in values)

    def sent(excess_bytes: int, live: Any = live) -> Any:
        overflow: Any = type("Overflow", (), {"live": live, "excess_bytes": excess_bytes})
        return least_useful(tiled, overflow)

    assert sent(10) == live[1].values
    assert sent(100) == live[0].values
    assert sent(9999) == live[0].values, "none is enough: the first"
    assert sent(10, ()) == ()


def test_what_limits_do_not_change_is_tiled_once() -> None:
    made, plan = planner(), planner().plan(bound())
    scheduled, decisions = plan.tiled.scheduled, plan.decisions
    small = replace(scheduled, bound=with_memories(scheduled.bound, {"ram": 7}))
    first, again = made.tile(scheduled, decisions), made.tile(small, decisions)
    assert again.groups is first.groups
    assert again.scheduled.bound.platform.memory("ram").size_bytes == 7
    before = made.work.spent
    made.tile(replace(scheduled, in_place={}), decisions)  # other pairs share bytes: other buffers
    assert made.work.spent == 2 * before > 0


def test_what_is_only_compared_is_asked_once_and_not_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    made, plan = planner(), planner().plan(bound())
    scheduled, decisions = plan.tiled.scheduled, plan.decisions
    expected = made.tile(scheduled, decisions).groups
    before = made.work.spent
    monkeypatch.setattr(sys.modules["tilewright.tile.tile"], "listed", lambda *_: pytest.fail("buffers are listed"))
    groups = made.groups(scheduled, decisions)
    assert groups == expected
    assert made.groups(replace(scheduled, bound=with_memories(scheduled.bound, {"ram": 7})), decisions) is groups
    assert made.work.spent == 2 * before > 0
