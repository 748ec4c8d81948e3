"""Groups of several steps: which there are, what their tiles compute, what they cost, and faults that are found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from tilewright.bind import bind
from tilewright.check.tiling import check_tiles
from tilewright.errors import TilewrightError
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.region import Copy, Cut, Form, Hop, InternalValue, Region, Tiles
from tilewright.ir.plans.stages import Group, Scheduled, Tiled
from tilewright.ir.plans.tiler import Buffering, TilingRequest
from tilewright.ir.rounding import align_up
from tilewright.ir.tensors.dtypes import DType
from tilewright.schedule import schedule
from tilewright.testing.cluster import RUNTIME_BYTES, cluster, copy_path
from tilewright.testing.one_step import portable_kernels, vocabulary
from tilewright.testing.sketch import Sketch
from tilewright.tile.cost.region_cost import altogether, region_costs
from tilewright.tile.cost.tile_boxes import boxes_of
from tilewright.tile.grouping import Grouping, nothing_resident
from tilewright.tile.groups.group_search import best_groups, hops_with, region_with
from tilewright.tile.machine import ScheduledMachine
from tilewright.tile.search.residency import ResidencyPlan
from tilewright.tile.space.fusion import RegionAnalysis, StepAnalyses, region_analysis
from tilewright.tile.strategies import StepTiler
from tilewright.tile.tile import tile

COST = StepTiler(name="cost", summary="")
SQUARE = {"kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1), "ceil_mode": 0}


def weights(*shape: int) -> Any:
    return np.ones(shape, np.float32)


def residual(height: int = 16, width: int = 16) -> Graph:
    """Convolution, depthwise convolution of stride 2, pointwise convolution, sum with a pooled branch."""
    sketch = Sketch(operators=vocabulary())
    x = sketch.input("x", DType.F32, (1, 4, height, width))
    a = sketch.node("Conv", (x, sketch.constant(weights(4, 4, 3, 3))), {**SQUARE, "group": 1}, "a")
    halved = {**SQUARE, "strides": (2, 2)}
    b = sketch.node("Conv", (a, sketch.constant(weights(4, 1, 3, 3))), {**halved, "group": 4}, "b")
    c = sketch.node("MaxPool", (a,), halved, "c")
    d = sketch.node("Add", (b, c), name="d")
    return sketch.finish(d)


@cache
def scheduled(scratchpad_bytes: int = 4096, height: int = 16, width: int = 16) -> Scheduled:
    bound = bind(residual(height, width), cluster(scratchpad_bytes), vocabulary(), portable_kernels(), Decisions())
    order = Decisions(order=("a", "b", "c", "d"), in_place={"d:0": ""})
    return schedule(bound, vocabulary(), order)


def analysis(plan: Scheduled, first: int = 0, count: int = 4) -> RegionAnalysis:
    machine = ScheduledMachine(plan, vocabulary(), Decisions())
    found = region_analysis(machine, first, plan.steps[first : first + count])
    assert isinstance(found, RegionAnalysis), found
    return found


def nested(scratchpad_bytes: int) -> Platform:
    """The cluster with a memory behind its backing memory, where values live, and constants that come the same way."""
    near = cluster(scratchpad_bytes)
    behind = Memory(name="l3", size_bytes=None)
    middle = tuple(replace(one, size_bytes=1 << 20) if one.name == "l2" else one for one in near.memories)
    copies = (copy_path("l3", "l2"), copy_path("l2", "l3"), copy_path("l2", "l1"), copy_path("l1", "l2"))
    return replace(near, memories=(behind, *middle), copies=(*copies, copy_path("flash", "l2")), backing="l3")


@cache
def far_scheduled(scratchpad_bytes: int = 1 << 16, height: int = 16, width: int = 16) -> Scheduled:
    bound = bind(residual(height, width), nested(scratchpad_bytes), vocabulary(), portable_kernels(), Decisions())
    return schedule(bound, vocabulary(), Decisions(order=("a", "b", "c", "d"), in_place={"d:0": ""}))


@cache
def far_tiled() -> Tiled:
    """The whole group over two hops."""
    plan = far_scheduled()
    one = analysis(plan)
    made = region_with(one, (Cut(rows_of(one), 2),), dict.fromkeys(one.inner, "rolling"))
    return tile(plan, vocabulary(), COST, Decisions(groups=(("a", "b", "c", "d"),), tiles={"d": made}))


@cache
def tiled(form: str = "rolling", rows: int = 2) -> Tiled:
    plan = scheduled(1 << 16)
    one = analysis(plan)
    nest = (Cut(rows_of(one), rows),)
    made = region_with(one, nest, dict.fromkeys(one.inner, form))
    pins = Decisions(groups=(("a", "b", "c", "d"),), tiles={"d": made})
    return tile(plan, vocabulary(), COST, pins)


def rows_of(one: RegionAnalysis) -> str:
    """The loop of the sink that runs over rows."""
    return one.sink.loops[2]


def changed(plan: Tiled, change: Callable[[Region], Region]) -> Tiled:
    (group,) = plan.groups
    return replace(plan, groups=(replace(group, region=change(group.region)),))


def hop(change: Callable[[Hop], Hop]) -> Callable[[Region], Region]:
    return lambda made: replace(made, schedule=Tiles(hops=(change(made.hops[0]),)))


def copied(key: str, **changes: Any) -> Callable[[Region], Region]:
    return hop(lambda one: replace(one, copies={**one.copies, key: replace(one.copies[key], **changes)}))


def held(**forms: Form) -> Callable[[Region], Region]:
    return lambda made: replace(
        made,
        internal_values={
            **made.internal_values,
            **{f"{name}:0": InternalValue(memory="l1", form=form) for name, form in forms.items()},
        },
    )


# --- what there is


@pytest.mark.parametrize("form", ["rolling", "recomputed", "whole"])
def test_a_sound_group_has_no_faults(form: str) -> None:
    assert check_tiles(tiled(form), vocabulary()) == ()


def test_rows_that_are_kept_are_computed_once() -> None:
    one = analysis(scheduled())
    rows = hops_with(one, (Cut(rows_of(one), 1),))
    computed = {}
    for form in ("rolling", "recomputed"):
        boxes = boxes_of(one, rows, dict.fromkeys(one.inner, form))
        low, high = boxes.runs[0]["h"]
        computed[form] = int((high - low).sum())
    assert computed["rolling"] == 16
    assert computed["recomputed"] == 16 + 7  # one row of three is needed again, in every tile but the first
    resident, moved = boxes_of(one, rows, dict.fromkeys(one.inner, "rolling")).kept(0)
    assert resident.reshape(-1).tolist() == [0, *[1] * 7]
    assert moved.reshape(-1).tolist()[1:] == [1, *[2] * 6]


def test_a_value_with_two_readers_is_needed_by_both() -> None:
    one = analysis(scheduled())
    boxes = boxes_of(one, hops_with(one, (Cut(rows_of(one), 4),)), dict.fromkeys(one.inner, "recomputed"))
    assert boxes.internal_rows(0) == (1, 4, 9, 16)
    assert boxes.internal_rows(1) == (1, 4, 4, 8)


def test_reasons_are_values() -> None:
    machine = ScheduledMachine(scheduled(), vocabulary(), Decisions())
    steps = scheduled().steps
    pair = region_analysis(machine, 0, steps[:2])
    assert isinstance(pair, RegionAnalysis) and pair.members[0].live_out
    assert "no step of the group reads 'b:0'" in str(region_analysis(machine, 1, steps[1:3]))
    far = replace(cluster(), inner="")
    bound = bind(residual(), far, vocabulary(), portable_kernels(), Decisions())
    alone = schedule(bound, vocabulary(), Decisions())
    assert "in a scratchpad" in str(region_analysis(ScheduledMachine(alone, vocabulary(), Decisions()), 0, alone.steps))


def test_an_output_over_what_the_group_reads_is_refused() -> None:
    sketch = Sketch(operators=vocabulary())
    x = sketch.input("x", DType.F32, (1, 4, 8, 8))
    first = sketch.node("Clip", (x,), {"min": 0.0, "max": 6.0}, "first")
    b = sketch.node("Conv", (first, sketch.constant(weights(4, 4, 3, 3))), {**SQUARE, "group": 1}, "b")
    bound = bind(
        sketch.finish(sketch.node("Add", (b, first), name="c")),
        cluster(), vocabulary(), portable_kernels(), Decisions(),
    )  # fmt: skip
    plan = schedule(bound, vocabulary(), Decisions(in_place={"c:0": "first:0"}))
    reason = region_analysis(ScheduledMachine(plan, vocabulary(), Decisions()), 1, plan.steps[1:])
    assert "takes the bytes of 'first:0'" in str(reason)


# --- faults

FAULTS: Mapping[str, tuple[str, Callable[[Region], Region]]] = {
    "larger tiles": ("its largest tile", hop(lambda one: replace(one, nest=(Cut(one.nest[0].loop, 3),)))),
    "rows kept that were recomputed": ("largest tile", held(a="whole")),
    "unknown loop": ("no loop 'q'", hop(lambda one: replace(one, nest=(Cut("q", 2),)))),
    "loop twice": ("cut twice", hop(lambda one: replace(one, nest=(one.nest[0], one.nest[0])))),
    "size zero": ("tiles of 0 trips", hop(lambda one: replace(one, nest=(Cut(one.nest[0].loop, 0),)))),
    "depth": ("at level 7", copied("a.X", level=7)),
    "no buffer": ("into 0 buffers", copied("a.X", buffers=0)),
    "missing buffer": ("'a.X@l1#1' is not there", copied("a.X", buffers=2)),
    "input fetched once": ("its largest tile", copied("a.X", level=0)),
    "unknown operand": ("no operand 'Q'", hop(lambda one: replace(one, copies={**one.copies, "Q": Copy(level=0)}))),
    "unknown inner value": ("inner values are not", held(x="rolling")),
    "inner value left out": (
        "inner values are not",
        lambda made: replace(made, internal_values={"a:0": made.internal_values["a:0"]}),
    ),
    "unknown path": ("nothing copies", hop(lambda one: replace(one, inner="flash"))),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found(name: str) -> None:
    words, change = FAULTS[name]
    found = check_tiles(changed(tiled(), change), vocabulary())
    assert any(words in fault for fault in found), found


def test_a_value_that_somebody_else_reads_is_found() -> None:
    plan = tiled()
    (group,) = plan.groups
    left = replace(group, region=replace(group.region, steps=("a", "b", "c")))
    assert any("needed outside" in fault for fault in check_tiles(replace(plan, groups=(left,)), vocabulary()))


def test_buffers_that_are_too_small_or_dead_are_found() -> None:
    plan = tiled()
    for name, change, words in (
        ("a.Y@l1#0", {"size_bytes": 64}, "its largest tile"),
        ("b.Y@l1#0", {"first": 0, "last": 0}, "not alive"),
        ("a.X@l1#0", {"memories": ("l2",)}, "not in memory 'l1'"),
        ("x", {"last": 0}, "'x' is not alive"),
    ):
        assert name in {item.name for item in plan.buffers}
        buffers = tuple(replace(item, **change) if item.name == name else item for item in plan.buffers)
        found = check_tiles(replace(plan, buffers=buffers), vocabulary())
        assert any(words in fault for fault in found), (name, found)


# --- over two hops


def outer(change: Callable[[Hop], Hop]) -> Callable[[Region], Region]:
    return lambda made: replace(made, schedule=Tiles(hops=(change(made.hops[0]), made.hops[1])))


FAR_FAULTS: Mapping[str, tuple[str, Callable[[Region], Region]]] = {
    "cut on the way": ("no loop 'h'", outer(lambda one: replace(one, nest=(Cut("h", 2),)))),
    "two buffers": (
        "'a.X@l2#1' is not there",
        outer(lambda one: replace(one, copies={"a.X": Copy(level=0, buffers=2)})),
    ),
    "other way": ("and on from 'l2'", outer(lambda one: replace(one, inner="l1"))),
    "left behind": ("nothing copies X", outer(lambda one: replace(one, copies={}))),
    "unknown": ("no operand 'Q'", outer(lambda one: replace(one, copies={**one.copies, "Q": Copy(level=0)}))),
}


@pytest.mark.parametrize("name", FAR_FAULTS)
def test_a_fault_on_the_way_is_found(name: str) -> None:
    words, change = FAR_FAULTS[name]
    assert check_tiles(far_tiled(), vocabulary()) == ()
    found = check_tiles(changed(far_tiled(), change), vocabulary())
    assert any(words in fault for fault in found), found


def test_buffers_on_the_way_are_checked() -> None:
    plan = far_tiled()
    assert {item.name for item in plan.buffers if item.memories == ("l2",)} == {f"{name}@l2#0" for name in ENDS}
    for changes, words in (({"size_bytes": 8}, "its largest tile"), ({"first": 0, "last": 0}, "not alive")):
        buffers = tuple(replace(item, **changes) if item.name == "a.X@l2#0" else item for item in plan.buffers)
        found = check_tiles(replace(plan, buffers=buffers), vocabulary())
        assert any(words in fault for fault in found), found


ENDS = ("a.X", "a.W", "b.W", "d.Y")


def test_what_crosses_first_does_so_whole_and_counts() -> None:
    plan = far_tiled()
    one = analysis(far_scheduled())
    crossing, inside = region_costs(one, plan.groups[0].region)
    constants = 4 * (4 * 4 * 9 + 4 * 9)
    assert crossing.in_bytes == 4 * 4 * 16 * 16 + constants
    assert crossing.out_bytes == inside.out_bytes == 4 * 4 * 8 * 8
    assert crossing.total_cycles == inside.total_cycles + crossing.copy_cycles
    assert altogether(region_costs(one, plan.groups[0].region)).total_cycles == crossing.total_cycles


@pytest.mark.slow
def test_what_crosses_must_have_room_or_crosses_in_tiles() -> None:
    plan = far_scheduled()
    machine = ScheduledMachine(plan, vocabulary(), Decisions())
    roomy = region_analysis(machine, 0, plan.steps, {}, {"l2": 1 << 19})
    assert isinstance(roomy, RegionAnalysis) and best_groups(roomy, "auto")
    tight = region_analysis(machine, 0, plan.steps, {}, {"l2": (1 << 20) - 4096})
    assert isinstance(tight, RegionAnalysis)
    (found,) = best_groups(tight, "auto")
    made = found.region
    assert made.hops[0].nest
    assert region_costs(tight, made)[0].scratchpad_bytes <= 4096
    pins = Decisions(groups=(("a", "b", "c", "d"),), tiles={"d": made})
    assert check_tiles(tile(plan, vocabulary(), COST, pins), vocabulary()) == ()
    none = region_analysis(machine, 0, plan.steps, {}, {"l2": (1 << 20) - 64})
    assert isinstance(none, RegionAnalysis) and not best_groups(none, "auto")


@pytest.mark.slow
@pytest.mark.parametrize("buffering", ["single", "double", "auto"])
def test_what_is_left_out_as_beaten_is_not_the_best(buffering: Buffering, monkeypatch: pytest.MonkeyPatch) -> None:
    for plan in (scheduled(), scheduled(2048), far_scheduled(), far_scheduled(16384, 64, 64)):
        for first in (0, 2):
            one = analysis(plan, first, 2)
            quick = best_groups(one, buffering, (0.2, 0.0))
            with monkeypatch.context() as patched:
                patched.setattr("tilewright.tile.groups.group_search._GroupSearch._beaten", lambda *_: False)
                assert best_groups(one, buffering, (0.2, 0.0)) == quick


@pytest.mark.slow
def test_groups_are_chosen_over_two_hops() -> None:
    plan = far_scheduled(32768, 64, 64)
    request = TilingRequest(scheduled=plan, operators=vocabulary(), decisions=Decisions())
    assert max(len(group.steps) for group in COST.plan(request)) > 1
    assert check_tiles(tile(plan, vocabulary(), COST, Decisions()), vocabulary()) == ()


def test_what_leaves_a_group_may_stay_on_the_way() -> None:
    """An Exp whose result the next step of its group reads, and, in the memory between, a product behind it."""
    sketch = Sketch(operators=vocabulary())
    x = sketch.input("x", DType.F32, (128, 128))
    a = sketch.node("Mul", (x, x), name="a")
    b = sketch.node("Exp", (a,), name="b")
    d = sketch.node("Sub", (b, x), name="d")
    c = sketch.node("MatMul", (b, sketch.constant(weights(128, 8))), name="c")
    bound = bind(sketch.finish(c, d), nested(1 << 16), vocabulary(), portable_kernels(), Decisions())
    plan = schedule(bound, vocabulary(), Decisions(order=("a", "b", "d", "c")))
    found = tile(plan, vocabulary(), COST, Decisions())
    assert found.groups[0].steps == ("a", "b", "d") and found.groups[0].region.resident == {"b:0": "l2"}
    assert check_tiles(found, vocabulary()) == ()


# --- cost and choice


def test_a_group_moves_what_enters_and_leaves_it() -> None:
    plan = tiled("rolling", 8)
    cost = altogether(region_costs(analysis(scheduled(1 << 16)), plan.groups[0].region))
    constants = 4 * (4 * 4 * 9 + 4 * 9)
    assert cost.in_bytes == 4 * 4 * 16 * 16 + constants
    assert cost.out_bytes == 4 * 4 * 8 * 8
    assert cost.tiles == 1
    assert cost.bound_bytes > 2 * (cost.in_bytes + cost.out_bytes)


@pytest.mark.parametrize("scratchpad_bytes", [3072, 4096, 6144, 12288])
def test_what_is_found_fits(scratchpad_bytes: int) -> None:
    one = analysis(scheduled(scratchpad_bytes))
    for found in best_groups(one, "auto", (0.2, 0.0)):
        assert one.rooms[-1] is not None
        assert found.cost.scratchpad_bytes <= one.rooms[-1]
        pins = Decisions(groups=(("a", "b", "c", "d"),), tiles={"d": found.region})
        made = tile(scheduled(scratchpad_bytes), vocabulary(), COST, pins)
        assert check_tiles(made, vocabulary()) == ()
        grain = one.grains[-1]
        inside = [item for item in made.buffers if item.memories == ("l1",)]
        assert sum(align_up(item.size_bytes, grain) for item in inside) == found.cost.scratchpad_bytes


@pytest.mark.slow
def test_groups_are_chosen_where_values_do_not_fit() -> None:
    """Maps of 64 KiB around a scratchpad of 32: fused, they move less and take no longer."""
    plan = scheduled(32768, 64, 64)
    request = TilingRequest(scheduled=plan, operators=vocabulary(), decisions=Decisions())
    joined, alone = COST.plan(request), COST.plan(replace(request, longest=1))
    assert max(len(group.steps) for group in joined) > 1
    assert all(len(group.steps) == 1 for group in alone)
    assert sum(group.cycles for group in joined) <= sum(group.cycles for group in alone)
    assert check_tiles(tile(plan, vocabulary(), COST, Decisions()), vocabulary()) == ()


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ((("b", "c"),), "reads 'b:0'"),
        ((("a", "c"),), "not successive"),
        ((("b", "nowhere"),), "not successive"),
    ],
)
def test_a_pinned_group_that_is_none_says_why(groups: tuple[tuple[str, ...], ...], words: str) -> None:
    with pytest.raises(TilewrightError) as caught:
        tile(scheduled(), vocabulary(), COST, Decisions(groups=groups))
    assert caught.value.code == "TW4042"
    assert words in caught.value.message


def test_tiles_of_a_group_that_is_not_pinned_say_so() -> None:
    made: Group = tiled().groups[0]
    with pytest.raises(TilewrightError, match="are pinned for a group"):
        tile(scheduled(1 << 16), vocabulary(), COST, Decisions(tiles={"d": made.region}))


def test_a_pinned_group_is_kept_and_the_rest_chosen_around_it() -> None:
    groups = COST.plan(
        TilingRequest(
            scheduled=scheduled(8192, 64), operators=vocabulary(), decisions=Decisions(groups=(("c", "d"),)), longest=1
        )
    )
    assert [group.steps for group in groups] == [("a",), ("b",), ("c", "d")]
    assert set(groups[-1].region.internal_values) == {"c:0"}


def test_what_the_first_step_reads_last_takes_room() -> None:
    """The input stays near until the first step of the group has read it."""
    plan = scheduled(8192)
    machine = ScheduledMachine(plan, vocabulary(), Decisions())
    request = TilingRequest(scheduled=plan, operators=vocabulary(), decisions=Decisions())
    step_tilings = COST.step_tilings(machine, request)
    (resident,) = (buffer for buffer in plan.buffers if buffer.name == "x")
    assert (resident.first, resident.last) == (0, 0)
    grouping = Grouping(
        step_tilings=step_tilings,
        plan=ResidencyPlan(tilings=nothing_resident(step_tilings).tilings, resident={"x": "l1"}),
        buffering="auto",
        longest=None,
        known={},
        analyses=StepAnalyses(machine),
    )
    found = grouping.partition((("a", "b", "c", "d"),), search=False)
    assert found is not None
    (group,) = found.groups
    one = region_analysis(machine, 0, plan.steps, {"x": "l1"}, {"l1": resident.size_bytes})
    assert isinstance(one, RegionAnalysis)
    room = 8192 - RUNTIME_BYTES - resident.size_bytes
    assert altogether(region_costs(one, group.region)).scratchpad_bytes <= room == one.rooms[-1]


@pytest.mark.parametrize(("count", "longest", "most"), [(5, None, 5), (6, None, 6), (5, 3, 3)])
def test_chains_stay_together_as_long_as_they_may(count: int, longest: int | None, most: int) -> None:
    """Clips of an image that is four times as large as the scratchpad: together they copy it once."""
    sketch = Sketch(operators=vocabulary())
    value = sketch.input("x", DType.F32, (1, 16, 64, 64))
    for _ in range(count):
        value = sketch.node("Clip", (value,), {"min": 0.0})
    apart = Decisions(in_place={node.outputs[0]: "" for node in sketch.nodes})
    bound = bind(sketch.finish(value), cluster(1 << 16), vocabulary(), portable_kernels(), Decisions())
    plan = schedule(bound, vocabulary(), apart)
    groups = COST.plan(TilingRequest(scheduled=plan, operators=vocabulary(), decisions=Decisions(), longest=longest))
    assert max(len(group.steps) for group in groups) == most
