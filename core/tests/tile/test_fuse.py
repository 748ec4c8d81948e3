"""Groups of several steps: which there are, what their tiles compute, what they cost, and faults that are found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from tilewright.bind import bind
from tilewright.decisions import Decisions, GroupTile, HopTile, TileCopy
from tilewright.dtypes import DType
from tilewright.errors import TilewrightError
from tilewright.graph import Graph
from tilewright.platform import Memory, Platform
from tilewright.schedule import schedule
from tilewright.stages import Group, Scheduled, Tiled
from tilewright.testing.cluster import cluster, copy_path
from tilewright.testing.one_step import portable_kernels, vocabulary
from tilewright.testing.sketch import Sketch
from tilewright.tile.check import check_tiles
from tilewright.tile.fuse import Chain, chain_of
from tilewright.tile.fuse_boxes import boxes_of
from tilewright.tile.fuse_cost import group_cost, group_costs
from tilewright.tile.fuse_search import best_groups, tile_of
from tilewright.tile.spaces import Machine
from tilewright.tile.stage import tile
from tilewright.tile.strategies import StepTiler
from tilewright.tile.tiler import TilingRequest

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
def scheduled(near_bytes: int = 4096, height: int = 16, width: int = 16) -> Scheduled:
    bound = bind(residual(height, width), cluster(near_bytes), vocabulary(), portable_kernels(), Decisions())
    order = Decisions(order=("a", "b", "c", "d"), in_place={"d:0": ""})
    return schedule(bound, vocabulary(), order)


def chain(plan: Scheduled, first: int = 0, count: int = 4) -> Chain:
    machine = Machine(plan, vocabulary(), Decisions())
    found = chain_of(machine, first, plan.steps[first : first + count])
    assert isinstance(found, Chain), found
    return found


def nested(near_bytes: int) -> Platform:
    """The cluster with a memory behind its home memory, where values live, and constants that come the same way."""
    near = cluster(near_bytes)
    behind = Memory(name="l3", size_bytes=None)
    middle = tuple(replace(one, size_bytes=1 << 20) if one.name == "l2" else one for one in near.memories)
    copies = (copy_path("l3", "l2"), copy_path("l2", "l3"), copy_path("l2", "l1"), copy_path("l1", "l2"))
    return replace(near, memories=(behind, *middle), copies=(*copies, copy_path("flash", "l2")), home="l3")


@cache
def far_scheduled(near_bytes: int = 1 << 16, height: int = 16, width: int = 16) -> Scheduled:
    bound = bind(residual(height, width), nested(near_bytes), vocabulary(), portable_kernels(), Decisions())
    return schedule(bound, vocabulary(), Decisions(order=("a", "b", "c", "d"), in_place={"d:0": ""}))


@cache
def far_tiled() -> Tiled:
    """The whole group over two hops."""
    plan = far_scheduled()
    one = chain(plan)
    made = tile_of(one, ("l2", "l1"), ((rows_of(one), 2),), dict.fromkeys(one.inner, "slide"))
    return tile(plan, vocabulary(), COST, Decisions(groups=(("a", "b", "c", "d"),), tiles={"d": made}))


@cache
def tiled(mode: str = "slide", rows: int = 2) -> Tiled:
    plan = scheduled(1 << 16)
    one = chain(plan)
    nest = ((rows_of(one), rows),)
    made = tile_of(one, ("l2", "l1"), nest, dict.fromkeys(one.inner, mode))  # type: ignore[arg-type]
    pins = Decisions(groups=(("a", "b", "c", "d"),), tiles={"d": made})
    return tile(plan, vocabulary(), COST, pins)


def rows_of(one: Chain) -> str:
    """The loop of the sink that runs over rows."""
    return one.sink.loops[2]


def changed(plan: Tiled, change: Callable[[GroupTile], GroupTile]) -> Tiled:
    (group,) = plan.groups
    return replace(plan, groups=(replace(group, tile=change(group.tile)),))


def hop(change: Callable[[HopTile], HopTile]) -> Callable[[GroupTile], GroupTile]:
    return lambda made: replace(made, hops=(change(made.hops[0]),))


def copied(key: str, **changes: Any) -> Callable[[GroupTile], GroupTile]:
    return hop(lambda one: replace(one, copies={**one.copies, key: replace(one.copies[key], **changes)}))


def inner(**changes: str) -> Callable[[GroupTile], GroupTile]:
    return lambda made: replace(made, inner={**made.inner, **{f"{name}:0": mode for name, mode in changes.items()}})  # type: ignore[dict-item]


# --- what there is


@pytest.mark.parametrize("mode", ["slide", "recompute", "whole"])
def test_a_sound_group_has_no_faults(mode: str) -> None:
    assert check_tiles(tiled(mode), vocabulary()) == ()


def test_rows_that_are_kept_are_computed_once() -> None:
    one = chain(scheduled())
    rows = ((rows_of(one), 1),)
    computed = {}
    for mode in ("slide", "recompute"):
        boxes = boxes_of(one, rows, dict.fromkeys(one.inner, mode))  # type: ignore[arg-type]
        low, high = boxes.runs[0]["h"]
        computed[mode] = int((high - low).sum())
    assert computed["slide"] == 16
    assert computed["recompute"] == 16 + 7  # one row of three is needed again, in every tile but the first
    kept, moved = boxes_of(one, rows, dict.fromkeys(one.inner, "slide")).kept(0)
    assert kept.reshape(-1).tolist() == [0, *[1] * 7]
    assert moved.reshape(-1).tolist()[1:] == [1, *[2] * 6]


def test_a_value_with_two_readers_is_needed_by_both() -> None:
    one = chain(scheduled())
    boxes = boxes_of(one, ((rows_of(one), 4),), dict.fromkeys(one.inner, "recompute"))
    assert boxes.held(0) == (1, 4, 9, 16)
    assert boxes.held(1) == (1, 4, 4, 8)


def test_reasons_are_values() -> None:
    machine = Machine(scheduled(), vocabulary(), Decisions())
    steps = scheduled().steps
    assert "reads 'a:0' too" in str(chain_of(machine, 0, steps[:2]))
    far = replace(cluster(), near="")
    bound = bind(residual(), far, vocabulary(), portable_kernels(), Decisions())
    alone = schedule(bound, vocabulary(), Decisions())
    assert "in a near memory" in str(chain_of(Machine(alone, vocabulary(), Decisions()), 0, alone.steps))


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
    reason = chain_of(Machine(plan, vocabulary(), Decisions()), 1, plan.steps[1:])
    assert "takes the bytes of 'first:0'" in str(reason)


# --- faults

FAULTS: Mapping[str, tuple[str, Callable[[GroupTile], GroupTile]]] = {
    "larger tiles": ("its largest tile", hop(lambda one: replace(one, nest=((one.nest[0][0], 3),)))),
    "rows kept that were recomputed": ("largest tile", inner(a="whole")),
    "unknown loop": ("no loop 'q'", hop(lambda one: replace(one, nest=(("q", 2),)))),
    "loop twice": ("cut twice", hop(lambda one: replace(one, nest=(one.nest[0], one.nest[0])))),
    "size zero": ("tiles of 0 trips", hop(lambda one: replace(one, nest=((one.nest[0][0], 0),)))),
    "depth": ("at depth 7", copied("a.X", depth=7)),
    "no buffer": ("into 0 buffers", copied("a.X", buffers=0)),
    "missing buffer": ("'a.X@l1#1' is not there", copied("a.X", buffers=2)),
    "input fetched once": ("its largest tile", copied("a.X", depth=0)),
    "unknown operand": ("no operand 'Q'", hop(lambda one: replace(one, copies={**one.copies, "Q": TileCopy(depth=0)}))),
    "unknown inner value": ("inner values are not", lambda made: replace(made, inner={**made.inner, "x": "slide"})),
    "inner value left out": ("inner values are not", lambda made: replace(made, inner={"a:0": "slide"})),
    "unknown path": ("nothing copies", hop(lambda one: replace(one, near="flash"))),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found(name: str) -> None:
    words, change = FAULTS[name]
    found = check_tiles(changed(tiled(), change), vocabulary())
    assert any(words in fault for fault in found), found


def test_a_value_that_somebody_else_reads_is_found() -> None:
    plan = tiled()
    (group,) = plan.groups
    left = replace(group, steps=("a", "b", "c"), name="c")
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
        buffers = tuple(replace(item, **change) if item.name == name else item for item in plan.buffers)  # type: ignore[arg-type]
        found = check_tiles(replace(plan, buffers=buffers), vocabulary())
        assert any(words in fault for fault in found), (name, found)


# --- over two hops


def outer(change: Callable[[HopTile], HopTile]) -> Callable[[GroupTile], GroupTile]:
    return lambda made: replace(made, hops=(change(made.hops[0]), made.hops[1]))


FAR_FAULTS: Mapping[str, tuple[str, Callable[[GroupTile], GroupTile]]] = {
    "cut on the way": ("is cut", outer(lambda one: replace(one, nest=(("h", 2),)))),
    "two buffers": ("several buffers", outer(lambda one: replace(one, copies={"a.X": TileCopy(depth=0, buffers=2)}))),
    "other way": ("and on from 'l2'", outer(lambda one: replace(one, near="l1"))),
    "left behind": ("nothing copies X", outer(lambda one: replace(one, copies={}))),
    "unknown": ("no operand 'Q'", outer(lambda one: replace(one, copies={**one.copies, "Q": TileCopy(depth=0)}))),
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
        buffers = tuple(
            replace(item, **changes) if item.name == "a.X@l2#0" else item  # type: ignore[arg-type]
            for item in plan.buffers
        )
        found = check_tiles(replace(plan, buffers=buffers), vocabulary())
        assert any(words in fault for fault in found), found


ENDS = ("a.X", "a.W", "b.W", "d.Y")


def test_what_crosses_first_does_so_whole_and_counts() -> None:
    plan = far_tiled()
    one = chain(far_scheduled())
    crossing, inside = group_costs(one, plan.groups[0].tile)
    constants = 4 * (4 * 4 * 9 + 4 * 9)
    assert crossing.in_bytes == 4 * 4 * 16 * 16 + constants
    assert crossing.out_bytes == inside.out_bytes == 4 * 4 * 8 * 8
    assert crossing.total_cycles == inside.total_cycles + crossing.copy_cycles
    assert group_cost(one, plan.groups[0].tile).total_cycles == crossing.total_cycles


def test_what_crosses_must_have_room() -> None:
    plan = far_scheduled()
    machine = Machine(plan, vocabulary(), Decisions())
    assert isinstance(chain_of(machine, 0, plan.steps, {}, {"l2": 1 << 19}), Chain)
    reason = chain_of(machine, 0, plan.steps, {}, {"l2": (1 << 20) - 4096})
    assert "what crosses to 'l2'" in str(reason)


def test_groups_are_chosen_over_two_hops() -> None:
    plan = far_scheduled(32768, 64, 64)
    request = TilingRequest(scheduled=plan, operators=vocabulary(), decisions=Decisions())
    assert max(len(group.steps) for group in COST.plan(request)) > 1
    assert check_tiles(tile(plan, vocabulary(), COST, Decisions()), vocabulary()) == ()


# --- cost and choice


def test_a_group_moves_what_enters_and_leaves_it() -> None:
    plan = tiled("slide", 8)
    cost = group_cost(chain(scheduled(1 << 16)), plan.groups[0].tile)
    constants = 4 * (4 * 4 * 9 + 4 * 9)
    assert cost.in_bytes == 4 * 4 * 16 * 16 + constants
    assert cost.out_bytes == 4 * 4 * 8 * 8
    assert cost.tiles == 1
    assert cost.bound_bytes > 2 * (cost.in_bytes + cost.out_bytes)


@pytest.mark.parametrize("near_bytes", [3072, 4096, 6144, 12288])
def test_what_is_found_fits(near_bytes: int) -> None:
    one = chain(scheduled(near_bytes))
    for found in best_groups(one, ("l2", "l1"), "auto", (0.2, 0.0)):
        assert one.room_bytes is not None
        assert found.cost.near_bytes <= one.room_bytes
        pins = Decisions(groups=(("a", "b", "c", "d"),), tiles={"d": found.tile})
        made = tile(scheduled(near_bytes), vocabulary(), COST, pins)
        assert check_tiles(made, vocabulary()) == ()
        grain = one.grain
        inside = [item for item in made.buffers if item.memories == ("l1",)]
        assert sum(-(-item.size_bytes // grain) * grain for item in inside) == found.cost.near_bytes


def test_groups_are_chosen_where_values_do_not_fit() -> None:
    """Maps of 64 KiB around a near memory of 32: fused, they move less and take no longer."""
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
        ((("a", "b"),), "reads 'a:0' too"),
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
        tile(scheduled(1 << 16), vocabulary(), COST, Decisions(tiles={"d": made.tile}))


def test_a_pinned_group_is_kept_and_the_rest_chosen_around_it() -> None:
    groups = COST.plan(
        TilingRequest(
            scheduled=scheduled(8192, 64), operators=vocabulary(), decisions=Decisions(groups=(("c", "d"),)), longest=1
        )
    )
    assert [group.steps for group in groups] == [("a",), ("b",), ("c", "d")]
    assert set(groups[-1].tile.inner) == {"c:0"}
