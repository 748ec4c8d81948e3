"""What an error suggests when a model does not fit works when it is typed, and says what it gives."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest

from tilewright.allocate.best_fit import BestFit
from tilewright.bind import bind
from tilewright.errors import TilewrightError, memory_error
from tilewright.ir.graphs.graph import Graph, Node, Tensor
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.ir.plans.allocation import Budget, Problem, Solution
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Allocated, Bound, Scheduled, Tiled
from tilewright.ir.plans.tiler import Tiler
from tilewright.ir.tensors.dtypes import DType
from tilewright.plan.kernel_fallback import Fitting
from tilewright.plan.proposals import planner, work
from tilewright.plan.proposals.planner import Planner
from tilewright.plan.proposals.shortfall import PlanFailure
from tilewright.plan.proposals.work import Work, WorkDone
from tilewright.plan.suggestions import (
    Change,
    Request,
    Trials,
    settings_that_fit,
    suggestions,
    with_memories,
    with_suggestions,
)
from tilewright.testing.random_graphs import random_graph, small_world
from tilewright.tile.strategies import WholeTiler
from tilewright.tile.tile import tile

WORLD = small_world()


def _fitting(
    io: Mapping[str, Literal["pool", "user"]] | None = None, effort: int = 2_000, pins: Decisions | None = None
) -> Fitting:
    planner = Planner(
        operators=WORLD.operators,
        kernels=WORLD.kernels,
        tiler=WholeTiler(),
        allocator=BestFit(),
        pins=pins or Decisions(io=io or {}),
        budget=Budget(work=effort),
    )
    return Fitting(planner=planner)


def _bound(seed: int, most_nodes: int = 10) -> Bound:
    graph = random_graph(random.Random(seed), WORLD.operators, most_nodes=most_nodes)
    return bind(graph, WORLD.platform, WORLD.operators, WORLD.kernels, Decisions())


def _typed(line: str, bound: Bound) -> tuple[Bound, Fitting]:
    """What the flags of a `try:` line do."""
    io = dict.fromkeys((*bound.graph.inputs, *bound.graph.outputs), "user") if "--io user" in line else {}
    sizes = {name: int(size) for name, size in re.findall(r"--memory (\w+)=(\d+)", line)}
    effort = re.search(r"--effort (\d+)", line)
    return with_memories(bound, sizes), _fitting(io, int(effort[1]) if effort else 2_000)


@pytest.mark.slow
def test_every_line_works_when_it_is_typed() -> None:
    lines = 0
    for seed in range(30):
        boundless = _fitting().plan(_bound(seed))
        used = boundless.pools[0].used_bytes
        for limit in (used - 1, used // 2):
            small = with_memories(_bound(seed), {"sram": limit})
            try:
                assert _fitting().plan(small).pools[0].used_bytes <= limit  # by rows
                continue
            except TilewrightError as error:
                caught = error
            for line in caught.fix:
                lines += 1
                plan = _typed(line, small)[1].plan(_typed(line, small)[0])
                said = re.search(r"sram ([\d,]+) of", line)
                assert said is None or int(said[1].replace(",", "")) == plan.pools[0].used_bytes
            assert any("--memory" in line and "larger -> fits" in line for line in caught.fix)
    assert lines > 80


def test_nothing_is_promised_that_was_not_planned() -> None:
    """Pinned offsets that exclude each other: no flag helps, none is shown."""
    bound = _bound(3)
    plan = _fitting().plan(bound)
    placed = [b for b in plan.tiled.buffers if b.name in plan.placements and b.kind != "constant" and b.size_bytes]
    first = next(
        b for b in placed for other in placed if b != other and b.first <= other.last and other.first <= b.last
    )
    clash = dict.fromkeys((item.name for item in placed), plan.placements[first.name].offset_bytes)
    stuck = _fitting(pins=Decisions(offsets=clash, order=plan.decisions.order))
    with pytest.raises(TilewrightError) as caught:
        stuck.plan(bound)
    assert not any("--memory" in line or "--io" in line for line in caught.value.fix)


@pytest.mark.slow
def test_several_memories_and_pins_are_tried() -> None:
    """Every line about two memories works; pins are suspected; what is told is what the plan takes."""
    lines = 0
    for seed in range(12):
        bound = _bound(seed, most_nodes=6)
        used = _fitting().plan(bound).pools[0].used_bytes
        small = Memory(name="dtcm", size_bytes=used // 3), Memory(name="sram", size_bytes=used // 3)
        two = replace(bound, platform=replace(bound.platform, memories=(*small, *bound.platform.of_kind("const"))))
        try:
            _fitting().plan(two)
            continue
        except TilewrightError as error:
            told = error
        assert "dtcm" in str(told)
        for line in told.fix:
            lines += 1
            changed, fitting = _typed(line, two)
            fitting.plan(changed)
    assert lines > 10


@pytest.mark.slow
def test_how_much_one_memory_needs_is_searched_with_a_fraction_of_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sizes that are told were planned with all of it."""
    budgets, solve = list[int](), BestFit.solve

    def counted(self: BestFit, problem: Problem, budget: Budget) -> Solution:
        budgets.append(budget.work)
        return solve(self, problem, budget)

    bound = _bound(0, most_nodes=6)
    used = _fitting().plan(bound).pools[0].used_bytes
    small = Memory(name="dtcm", size_bytes=used // 3), Memory(name="sram", size_bytes=used // 3)
    two = replace(bound, platform=replace(bound.platform, memories=(*small, *bound.platform.of_kind("const"))))
    monkeypatch.setattr(BestFit, "solve", counted)
    with pytest.raises(TilewrightError) as caught:
        _fitting().plan(two)
    assert any("--memory" in line for line in caught.value.fix)
    assert budgets.count(2_000 // 50) > 3
    assert budgets[-1] == 2_000


def test_pins_that_are_in_the_way() -> None:
    bound = _bound(3)
    used = _fitting().plan(bound).pools[0].used_bytes
    memories = Memory(name="dtcm", size_bytes=used // 2), Memory(name="sram", size_bytes=None)
    two = replace(bound, platform=replace(bound.platform, memories=(*memories, *bound.platform.of_kind("const"))))
    values = dict.fromkeys((name for name in bound.layouts if name not in bound.graph.constants), "dtcm")
    fitting = _fitting(pins=Decisions(memories=values))
    with pytest.raises(TilewrightError) as caught:
        fitting.plan(two)
    assert any(line.startswith("without --pin") and "fits" in line for line in caught.value.fix)
    assert any("pinned)" in detail for detail in caught.value.details)
    assert _fitting().plan(two)


def test_a_place_that_is_in_the_way() -> None:
    """The first value at the end of a memory that is just large enough."""
    bound = _bound(3)
    free = _fitting().plan(bound)
    used, name = free.pools[0].used_bytes, free.tiled.buffers[0].name
    limited = with_memories(bound, {free.pools[0].memory: used})
    with pytest.raises(TilewrightError) as caught:
        _fitting(pins=Decisions(offsets={name: used - 16})).plan(limited)
    assert caught.value.code in ("TW5001", "TW5004")
    assert any(line.startswith("without --pin") and "fits" in line for line in caught.value.fix)


def test_settings_are_named_with_which_the_model_fits() -> None:
    plan = _fitting().plan(_bound(0))

    def planned(settings: Mapping[str, str]) -> Allocated:
        if settings == {"home": "l2"}:
            raise memory_error("TW5001", "it does not fit")
        return plan

    lines, untried = settings_that_fit([{"home": "l2"}, {"home": "l3", "cores": "8"}], planned, Work())
    assert not untried
    assert [line.split("     ")[0] for line in lines] == ["--set home=l3 --set cores=8"]
    assert lines[0].split("     ")[1] == "fits"  # there is no memory with a limit to speak of


def test_when_the_work_ends_it_is_told_what_was_not_tried() -> None:
    """A plan that would take too much is none; what is found before is told."""
    bound, calls = _bound(3), list[Change]()
    fits = _fitting().plan(bound)

    def plan(_: Bound, change: Change) -> Allocated | None:
        calls.append(change)
        if change.unpinned:
            raise WorkDone
        return fits if change.users else None

    trials = Trials(plan)
    lines = suggestions(bound, trials, Request(placeable=True, effort=1, pinned=True, staged=True))
    assert [line.split("     ")[0] for line in lines] == ["--io user"]
    assert trials.untried == ["without --pin", "without --stage", "--memory"]
    assert calls == [Change(effort=5), Change(users=True), Change(unpinned=True)]
    told = with_suggestions(memory_error("TW5001", "it does not fit"), lines, trials.untried)
    assert told.details == ("planning takes long here: not tried: without --pin, without --stage, --memory",)


@pytest.mark.parametrize("limit", (16, 60, 120))
def test_a_refusal_takes_no_more_than_twice_the_first_plan(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many limits are asked for; every line that is left works as before."""
    monkeypatch.setattr(work, "_LEAST", 0)
    fitting, bound = _fitting(), with_memories(_bound(3), {"sram": limit})
    with pytest.raises(TilewrightError):
        fitting.plan(bound)
    done = fitting.planner.work
    assert done.first and done.spent <= 3 * done.first
    with pytest.raises(TilewrightError) as caught:
        fitting.plan(bound)  # counts from the beginning
    for line in caught.value.fix:
        changed, other = _typed(line, bound)
        other.plan(changed)


def test_more_limits_of_memories_are_no_reason_to_tile_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[Decisions]()

    def tiled(scheduled: Scheduled, operators: Mapping[str, Operator], tiler: Tiler, *more: Any) -> Tiled:
        asked.append(more[0])
        return tile(scheduled, operators, tiler, *more)

    monkeypatch.setattr(planner, "tile", tiled)
    with pytest.raises(TilewrightError) as caught:
        _fitting().plan(with_memories(_bound(3), {"sram": 16}))
    assert any("--memory" in line for line in caught.value.fix)
    assert all(one not in asked[:number] for number, one in enumerate(asked))


def test_settings_that_there_is_no_work_left_for_are_named() -> None:
    def planned(settings: Mapping[str, str]) -> tuple[PlanFailure, ...]:
        if settings["home"] == "l3":
            raise WorkDone
        return ()

    assert settings_that_fit([{"home": "l2"}, {"home": "l3"}], planned, Work()) == ([], ["--set home=l3"])


def _sums_of_constants(memories: tuple[Memory, ...]) -> Bound:
    """Four constants of 256 B, added one after the other, on a machine with these memories."""
    names = [f"v{i}" for i in range(5)]
    add = [Node(name=f"n{i}", op="Add", inputs=(names[i], f"c{i}"), outputs=(names[i + 1],)) for i in range(4)]
    tensors = {name: Tensor(name=name, dtype=DType.F32, shape=(64,)) for name in (*names, "c0", "c1", "c2", "c3")}
    graph = Graph(
        name="sums",
        inputs=("v0",),
        outputs=("v4",),
        nodes=tuple(add),
        tensors=tensors,
        constants={f"c{i}": np.full(64, i, np.float32) for i in range(4)},
    )
    platform = replace(WORLD.platform, memories=memories)
    return bind(graph, platform, WORLD.operators, WORLD.kernels, Decisions())


def test_too_many_constants_are_told_before_any_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their sum says what is needed: no order, kernel or patience changes it. That it does is planned with once."""
    tilings = list[Platform]()
    newly = Planner._newly_tiled

    def tiled(self: Planner, scheduled: Scheduled, decisions: Decisions) -> Tiled:
        tilings.append(scheduled.bound.platform)
        return newly(self, scheduled, decisions)

    monkeypatch.setattr(Planner, "_newly_tiled", tiled)
    memories = (Memory(name="sram", size_bytes=None), Memory(name="flash", kind="const", size_bytes=600))
    bound = _sums_of_constants(memories)
    with pytest.raises(TilewrightError) as caught:
        _fitting().plan(bound)
    assert caught.value.code == "TW5001" and "flash" in caught.value.message
    assert [line.split("     ")[0] for line in caught.value.fix] == ["--memory flash=1040"]
    assert tilings and all(platform.memory("flash").size_bytes == 1040 for platform in tilings)
    assert _fitting().plan(with_memories(bound, {"flash": 1040}))


def test_constants_that_are_more_than_the_machine_holds_are_told_to_be_so() -> None:
    """No limit would do, and a plan with more would not link."""
    flash = Memory(name="flash", kind="const", size_bytes=600, machine_bytes=1000)
    bound = _sums_of_constants((Memory(name="sram", size_bytes=None), flash))
    with pytest.raises(TilewrightError) as caught:
        _fitting().plan(bound)
    has = "the machine has 1,000 B for constants with these settings, and these are 1,024 B"
    assert caught.value.fix == () and caught.value.details[-1] == f"{has}: only fewer or smaller weights can fit"
