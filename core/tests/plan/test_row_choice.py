"""When steps are computed by rows: only to fit, or for less memory where that is asked for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tilewright.allocate.best_fit import BestFit
from tilewright.errors import TilewrightError
from tilewright.ir.access import Access, whole
from tilewright.ir.dtypes import DType
from tilewright.ir.graph import Attribute
from tilewright.ir.kernel import Matched
from tilewright.ir.stages import Allocated
from tilewright.ir.tiler import Tiler
from tilewright.plan import row_choice
from tilewright.plan.kernel_fallback import Fitting
from tilewright.plan.planner import Optimize, Planner, ram_bytes
from tilewright.plan.remedies import with_memories
from tilewright.plan.row_choice import (
    BALANCED,
    order_of,
    row_notes,
    row_plans,
    row_ways,
    smallest_plan,
    times_computed,
)
from tilewright.testing.one_step import portable_kernels, vocabulary
from tilewright.testing.row_networks import ONE_MEMORY, row_network
from tilewright.testing.sketch import Sketch
from tilewright.tile.strategies import StepTiler
from tilewright.tile.whole import WholeTiler

SEED = 0  # layers 4,860 B or so, by rows much less


WIDE = 6  # a network of which columns that are computed again take less


def fastest() -> Planner:
    """With portable kernels."""
    return Planner(
        operators=vocabulary(),
        kernels=portable_kernels(),
        tiler=StepTiler(name="auto", summary=""),
        allocator=BestFit(),
    )


def planned(
    optimize: Optimize = "speed", limit: int | None = None, *, seed: int = SEED, recompute: float = 1.0
) -> Allocated:
    """A network's plan."""
    planner = replace(fastest(), optimize=optimize, recompute=recompute)
    bound = planner.bind(row_network(seed, vocabulary()).graph, ONE_MEMORY)
    return Fitting(planner=planner).plan(with_memories(bound, {"ram": limit}) if limit else bound)


def by_rows(plan: Allocated) -> bool:
    """Whether any steps are."""
    return any(region.rows is not None for region in plan.tiled.regions)


def test_speed_computes_nothing_together_where_everything_fits() -> None:
    assert not by_rows(planned())
    assert list(row_notes(planned(), vocabulary())) == []


def convolved(taps: int, tiler: Tiler) -> Allocated:
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
    planner = replace(fastest(), tiler=tiler)
    return Fitting(planner=planner).plan(
        planner.bind(sketch.finish(sketch.node("Conv", (x, w), attributes)), ONE_MEMORY)
    )


@pytest.mark.parametrize(("taps", "free"), [(9, True), (1, False)])
def test_speed_lets_an_output_take_what_its_step_reads_where_calls_are_few_cycles(taps: int, free: bool) -> None:
    plan = convolved(taps, fastest().tiler)
    assert by_rows(plan) == free
    assert all(len(region.steps) == 1 for region in plan.tiled.regions)
    assert [note.message[:30] for note in row_notes(plan, vocabulary())] == ["1 step is computed row by row:"] * free


def test_the_tiler_for_whole_layers_leaves_them_in_one_piece() -> None:
    assert not by_rows(convolved(9, WholeTiler()))


def test_ram_takes_less_and_says_what_it_costs() -> None:
    plan = planned("ram")
    assert by_rows(plan) and ram_bytes(plan) < ram_bytes(planned())
    (note,) = row_notes(plan, vocabulary())
    assert note.code == "TW5036" and f"{ram_bytes(plan):,} B" in note.message


def test_the_note_says_so_where_rows_take_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = planned("ram")
    monkeypatch.setattr(row_choice, "slowdown", lambda plan: -0.01)
    (note,) = row_notes(plan, vocabulary())
    assert "no more cycles" in note.message and "-" not in note.message


def test_of_ways_that_take_the_same_the_fastest_is_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first may take less at best, and does not."""
    whole_, found = planned(), planned("ram")
    plans = {1.009: found, 1.001: replace(found)}
    (one, *_) = row_ways(fastest(), whole_.tiled.scheduled, None)
    size = ram_bytes(found)
    ways = [replace(one, size_bytes=size - 100, slowdown=1.009), replace(one, size_bytes=size, slowdown=1.001)]
    monkeypatch.setattr(row_choice, "planned_way", lambda planner, way: plans[way.slowdown])
    assert smallest_plan(fastest(), whole_, ways, 2) is plans[1.001]


def test_the_note_says_why_rows_end() -> None:
    """Before a step whose kernel takes everything at once."""
    sketch = Sketch(operators=vocabulary())
    windows: dict[str, Attribute] = {"kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (1,) * 4}
    y = sketch.input("x", DType.F32, (1, 2, 16, 16))
    for _ in range(2):
        weights = sketch.constant(np.ones((8, sketch.tensors[y].shape[1], 3, 3), np.float32))
        y = sketch.node("Conv", (y, weights), {**windows, "ceil_mode": 0, "group": 1})
    y = sketch.node("ReduceSum", (y,), {"axes": (2, 3), "keepdims": 0})
    y = sketch.node("Softmax", (y,), {"axis": 1}, name="scores")
    kernels = {
        name: replace(kernel, access=_in_one_piece) if kernel.op == "Softmax" else kernel
        for name, kernel in portable_kernels().items()
    }
    planner = Planner(
        operators=vocabulary(),
        kernels=kernels,
        tiler=StepTiler(name="auto", summary=""),
        allocator=BestFit(),
        optimize="ram",
    )
    plan = Fitting(planner=planner).plan(planner.bind(sketch.finish(y), ONE_MEMORY))
    (note,) = row_notes(plan, vocabulary())
    assert note.details == ("they end before 'scores': its windows are no index map",)


def _in_one_piece(site: Matched) -> Access:
    return whole({"X": site.input(0).shape}, {"Y": site.output.shape})


def test_balanced_is_no_more_than_a_tenth_slower() -> None:
    fast, balanced = planned(), planned("balanced")
    cycles = [sum(group.cycles for group in plan.tiled.groups) for plan in (fast, balanced)]
    assert cycles[1] <= BALANCED * cycles[0]
    assert ram_bytes(planned("ram")) <= ram_bytes(balanced) <= ram_bytes(fast)


def test_a_limit_alone_gets_there() -> None:
    limit = ram_bytes(planned("ram"))
    plan = planned("speed", limit)
    assert by_rows(plan) and ram_bytes(plan) <= limit


def test_of_what_fits_the_fastest_is_taken() -> None:
    most, least = ram_bytes(planned()), ram_bytes(planned("ram"))
    plan = planned("speed", most - 1)
    assert least <= ram_bytes(plan) < most
    slow = sum(group.cycles for group in planned("ram").tiled.groups)
    assert sum(group.cycles for group in plan.tiled.groups) <= slow


def test_what_rows_cannot_do_either_does_not_fit() -> None:
    with pytest.raises(TilewrightError, match="does not fit"):
        planned("ram", 64)


def striped(plan: Allocated) -> bool:
    """Whether any columns are computed in stripes."""
    return any(region.rows is not None and region.rows.stripes is not None for region in plan.tiled.regions)


def test_nothing_is_computed_again_unless_that_is_asked_for() -> None:
    for optimize in ("speed", "balanced", "ram"):
        plan = planned(optimize, seed=WIDE)
        assert not striped(plan) and times_computed(plan, vocabulary()) == 1.0


@pytest.mark.parametrize("recompute", [1.1, 1.3, 2.0, 10.0])
def test_columns_are_computed_again_as_often_as_allowed_and_the_note_says_so(recompute: float) -> None:
    plan = planned("ram", seed=WIDE, recompute=recompute)
    often = times_computed(plan, vocabulary())
    assert often <= recompute
    assert ram_bytes(plan) <= ram_bytes(planned("ram", seed=WIDE))
    (note,) = row_notes(plan, vocabulary())
    assert (f"{often:.2f} times the multiply-accumulates" in note.message) == striped(plan)


def test_computing_columns_again_takes_less_memory() -> None:
    plan = planned("ram", seed=WIDE, recompute=10.0)
    assert striped(plan) and ram_bytes(plan) < ram_bytes(planned("ram", seed=WIDE))
    limit = ram_bytes(planned("ram", seed=WIDE)) - 1
    assert ram_bytes(planned("speed", limit, seed=WIDE, recompute=10.0)) <= limit


@pytest.mark.parametrize("recompute", [1.0, 10.0])
def test_decisions_of_a_plan_give_it_again(recompute: float) -> None:
    plan = planned("ram", seed=WIDE, recompute=recompute)
    planner = Planner(
        operators=vocabulary(),
        kernels=portable_kernels(),
        tiler=StepTiler(name="auto", summary=""),
        allocator=BestFit(),
        pins=plan.decisions,
    )
    again = planner.plan(planner.bind(row_network(WIDE, vocabulary()).graph, ONE_MEMORY))
    assert again.placements == plan.placements and again.tiled.regions == plan.tiled.regions


def test_orders_have_every_node_once() -> None:
    scheduled = planned().tiled.scheduled
    nodes = [node.name for node in scheduled.bound.graph.nodes]
    assert sorted(order_of(scheduled)) == sorted(nodes)


def test_ways_are_sorted_by_cycles() -> None:
    plan = planned()
    decisions = replace(plan.decisions, tiles={}, groups=(), offsets={}, memories={})
    ways = row_plans(plan.tiled.scheduled, vocabulary(), decisions, apart=True)
    assert [way.division.cycles for way in ways] == sorted(way.division.cycles for way in ways)
    assert all(way.slowdown >= 1.0 for way in ways)
