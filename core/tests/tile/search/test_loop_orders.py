"""Copy levels and buffer counts of a sum of two 6 x 8 floats in two tiles of 3 x 8, against sums by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from random_layers import layers, schedule_on
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.region import Copy, Cut, key_of
from tilewright.testing.cluster import RUNTIME_BYTES, cluster, copy_cycles
from tilewright.testing.one_step import one_step, vocabulary
from tilewright.tile.cost.kernel_costs import tile_cycles
from tilewright.tile.cost.lower_bounds import TRAFFIC
from tilewright.tile.machine import ScheduledMachine
from tilewright.tile.search.loop_orders import EstimatedTiling, LoopOrders, total_of
from tilewright.tile.search.tiling_search import TilingSearch
from tilewright.tile.space.step_spaces import SpaceSignature, step_space
from tilewright.tile.space.tiling_space import rolling_loops

TILE, WHOLE = 96, 192  # bytes of an operand in one tile, and of all of it
EACH = copy_cycles(TILE, 1)


def halves(space: Any, buffering: Any = "auto") -> LoopOrders:
    """All orders of the loops, with tiles of three rows."""
    return TilingSearch(space, buffering).together(np.array([[3, 8]]))


def best(space: Any, buffering: Any = "auto") -> EstimatedTiling:
    found = halves(space, buffering).best()
    assert found is not None
    return found


def levels(found: EstimatedTiling) -> dict[str, tuple[int, int]]:
    """By operand the copy level and the number of buffers."""
    return {name: (copy.level, copy.buffers) for name, copy in found.copies.items()}


def test_with_room_for_one_tile_of_each_nothing_is_hidden(sum_in: Any) -> None:
    """Two tiles one after the other: each fetched, computed, stored."""
    space = sum_in(3 * TILE)
    found = best(space)
    assert levels(found) == dict.fromkeys("ABY", (1, 1))
    assert found.nest == (Cut("_lead1", 3),), "the other loop has one trip"
    compute = tile_cycles(space, {"_lead1": 3, "_lead0": 8})
    assert found.cycles == pytest.approx(2 * (compute + 3 * EACH))
    assert (found.moved_bytes, found.used_bytes) == (3 * WHOLE, 3 * TILE)
    assert found.score == pytest.approx(found.cycles * (1 + TRAFFIC))


def test_in_two_queues_both_operands_come_together(sum_in: Any) -> None:
    """With one buffer each: two windows come, and one goes while the next two do, all three in two queues."""
    space = sum_in(3 * TILE)
    wide = replace(space, copied=tuple(replace(one, path=replace(one.path, queues=2)) for one in space.copied))
    compute = tile_cycles(space, {"_lead1": 3, "_lead0": 8})
    assert best(wide).cycles == pytest.approx(2 * compute + EACH + 1.5 * EACH + EACH)


def test_second_buffers_hide_what_is_copied_meanwhile(sum_in: Any) -> None:
    """As many as there is room for: each hides one transfer, until all of a change of tiles is behind computation."""
    one, two, three = (best(sum_in((3 + more) * TILE), "double" if more == 3 else "auto") for more in (0, 1, 3))
    assert [one.used_bytes, two.used_bytes, three.used_bytes] == [3 * TILE, 4 * TILE, 6 * TILE]
    assert one.cycles - two.cycles == pytest.approx(EACH)
    assert one.cycles - three.cycles == pytest.approx(3 * EACH)
    assert levels(three) == dict.fromkeys("ABY", (1, 2))


def test_how_many_buffers_are_asked_for_is_obeyed(sum_in: Any) -> None:
    single = best(sum_in(1 << 12), "single")
    assert {buffers for _, buffers in levels(single).values()} == {1}
    assert halves(sum_in(3 * TILE), "double").best() is None, "no room for two of what is copied more than once"


def test_nothing_where_nothing_fits_or_no_transfer_is_legal(sum_in: Any) -> None:
    assert halves(sum_in(3 * TILE - 8)).best() is None
    space = sum_in(1 << 12)
    odd = tuple(replace(item, aligned_offset=False) for item in space.copied)
    assert halves(replace(space, copied=odd)).best() is None


def test_an_input_whose_bytes_the_output_takes_is_fetched_once(sum_in: Any) -> None:
    """So its level is not inside a loop that does not move it."""
    space = sum_in(1 << 12)
    order = halves(space)
    (a, *_) = space.copied
    narrow = replace(a, loops=("_lead1",))
    assert order._copy_levels(narrow, ["_lead0", "_lead1"]) == (0, 2)
    taken = halves(replace(space, once=("A",)))
    assert taken._copy_levels(narrow, ["_lead0", "_lead1"]) == (0,)
    assert taken._copy_levels(narrow, ["_lead1", "_lead0"]) == (0, 1)


def test_sets_of_second_buffers_begin_with_none_and_take_more(sum_in: Any) -> None:
    found = list(halves(sum_in(1 << 12)).doublings())
    assert not any(twice.any() for twice in found[0][0])
    least = [float(used.min()) for _, used in found]
    assert min(least) == least[0] == 3 * TILE
    assert max(sum(bool(twice.any()) for twice in doubled) for doubled, _ in found) == 3
    assert max(float(used.max()) for _, used in found) == 6 * TILE
    assert len(list(halves(sum_in(1 << 12), "single").doublings())) == 1
    (always,) = halves(sum_in(1 << 12), "double").doublings()
    assert all(twice.any() for twice in always[0])


def test_who_starts_copies_makes_no_difference(sum_in: Any) -> None:
    """Nor to what a space is known by: one search does for plans with a core that only moves data and without."""
    for room in (None, 4 * TILE, 3 * TILE):
        space = replace(sum_in(1000), available_bytes=room)
        engine = replace(space.engine, dma_core=True, copy_start_cycles=40.0, code_waits=2)
        apart, first = replace(space, engine=engine), replace(space, engine=replace(engine, dma_core=False))
        assert best(apart) == best(first) and TilingSearch(apart, "auto").best() == TilingSearch(first, "auto").best()
        assert SpaceSignature(apart) == SpaceSignature(first) != SpaceSignature(space)


def test_an_estimate_becomes_a_hop(sum_in: Any) -> None:
    hop = best(sum_in(3 * TILE)).on("s", ("l2", "l1"))
    assert (hop.outer, hop.inner, hop.nest) == ("l2", "l1", (Cut("_lead1", 3),))
    assert hop.copies == {key_of("s", name): Copy(level=1) for name in "ABY"}


def test_a_total_has_the_shape_of_all() -> None:
    assert total_of([np.ones((2, 1)), np.ones((1, 3))]).tolist() == [[2, 2, 2], [2, 2, 2]]
    assert total_of([]).tolist() == [0]


def pooled(rows: int, *, rolls: bool) -> EstimatedTiling:
    """Of a pool of 3 x 3 over 2 x 8 x 4 floats in tiles of so many rows, where rows of the input may stay."""
    windows = {"kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1), "ceil_mode": 0}
    scheduled = one_step("MaxPool", [np.zeros((1, 2, 8, 4), np.float32)], cluster(), windows)
    machine = ScheduledMachine(scheduled, vocabulary(), Decisions())
    space = step_space(machine, 0, scheduled.steps[0], "l1")
    sizes = [{"c": 2, "h": rows, "w": 4}[loop.name] for loop in space.cuts]
    room = replace(space, available_bytes=32 * (min(rows + 2, 8) + rows), rolls=rolling_loops(space) if rolls else {})
    found = TilingSearch(room, "single").together(np.array([sizes])).best()
    assert found is not None
    return found


def test_rows_that_stay_are_not_brought_again() -> None:
    """Rows of 32 bytes: windows of 3, 4, 4 and 3 rows, or the eight rows once; and the output."""
    again, once = pooled(2, rolls=False), pooled(2, rolls=True)
    assert (again.copies["X"].window, again.moved_bytes) == ("box", 32 * (3 + 4 + 4 + 3 + 8))
    assert (once.copies["X"], once.moved_bytes) == (Copy(level=1, window="rolling"), 32 * (8 + 8))
    assert once.used_bytes == again.used_bytes


def test_in_one_tile_no_row_stays() -> None:
    assert pooled(8, rolls=True).copies["X"] == Copy(level=0)


def test_many_operands_take_no_more_arrays_than_few(joined: Any) -> None:
    """Of 70 parts that are joined, each of two tiles: where combinations are too many, parts come with every tile."""
    found = {parts: TilingSearch(joined(parts), "auto").together(np.array([[2, 3]])) for parts in (4, 12, 70)}
    for parts, orders in found.items():
        assert orders.moved.size <= 2 * 256 and len(orders.choices) == parts + 1
        best = orders.best()
        assert best is not None and len(best.copies) == parts + 1
        assert max(copy.level for copy in best.copies.values()) > 0, "not everything is resident"


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    layers(),
    st.integers(64, 4096),
    st.sampled_from(["single", "auto", "double"]),
    st.booleans(),
    st.booleans(),
    st.sampled_from([1, 2, 4]),
)
def test_no_size_is_better_than_its_floor_and_none_is_missed(
    layer: dict[str, Any], room_bytes: int, buffering: Any, split: bool, rolls: bool, queues: int
) -> None:
    """Alone, few combinations are all put together; with many other sizes, only those that their floors let through."""
    platform = cluster(RUNTIME_BYTES + room_bytes)
    platform = replace(platform, copies=tuple(replace(path, queues=queues) for path in platform.copies))
    scheduled = schedule_on(layer, platform)
    if not scheduled.steps:
        return
    machine = ScheduledMachine(scheduled, vocabulary(), Decisions())
    way = machine.hops[0]
    space = step_space(machine, 0, scheduled.steps[0], way.inner, split=split)
    search = TilingSearch(replace(space, rolls=rolling_loops(space)) if rolls else space, buffering)
    points = search.points[np.linspace(0, len(search.points) - 1, 40).astype(int)]
    floors = search.together(points).floors().min(axis=0)
    alone = [search.together(point[None]).best() for point in points]
    for floor, one in zip(floors, alone, strict=True):
        assert one is None or floor <= one.score * (1 + 1e-9)
    together = search.together(points).best()
    least = min((one.score for one in alone if one is not None), default=None)
    assert least == (None if together is None else together.score)
    if least is not None:
        assert search.together(points).best(least * 2) == together
        beaten = search.together(points).best(least)
        assert beaten is None or beaten.score >= least
