"""Bounds that the search leaves tilings out by: of a sum of two 6 x 8 floats, and never above what is found."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tilewright.ir.plans.decisions import Decisions
from tilewright.testing.cluster import CALL_CYCLES, RUNTIME_BYTES, cluster, copy_path
from tilewright.testing.one_step import one_step, vocabulary
from tilewright.tile.cost.lower_bounds import (
    TRAFFIC,
    cycles_each_byte,
    least_copies,
    least_cycles_of,
    least_score,
    score_bounds,
)
from tilewright.tile.machine import ScheduledMachine
from tilewright.tile.search.tiling_search import TilingSearch
from tilewright.tile.space.step_spaces import step_space
from tilewright.tile.space.tiling_space import TilingSpace


def product_in(room_bytes: int, *, split: bool) -> TilingSpace:
    """8 x 200 times 200 x 16 floats, of which the 200 may be cut."""
    inputs = [np.zeros((8, 200), np.float32), np.zeros((200, 16), np.float32)]
    scheduled = one_step("Gemm", inputs, cluster(RUNTIME_BYTES + room_bytes), constants=(1,))
    machine = ScheduledMachine(scheduled, vocabulary(), Decisions())
    return step_space(machine, 0, scheduled.steps[0], "l1", split=split)


def bounds_of(search: TilingSearch, points: Any) -> Any:
    return score_bounds(search.space, points, least_copies(search.space, points, search.table))


def test_a_byte_of_a_long_transfer_takes_an_eighth_of_a_cycle() -> None:
    assert cycles_each_byte(copy_path("l2", "l1")) == 1 / 8
    assert cycles_each_byte(replace(copy_path("l2", "l1"), cycles=lambda size, rows: 70.0 + 3 * size)) == 3


def test_a_step_takes_its_computation_and_one_call_or_its_copies(sum_in: Any) -> None:
    """Six rows on eight cores: 48 sums at 12 a cycle, six eighths of the cores busy."""
    space = sum_in(1 << 14)
    assert least_cycles_of(space) == CALL_CYCLES + 48 / 12
    slow = replace(space, copied=tuple(replace(one, path=slowed(one.path)) for one in space.copied))
    assert least_cycles_of(slow) == 3 * 1000
    wide = replace(slow, copied=tuple(replace(one, path=replace(one.path, queues=2)) for one in slow.copied))
    assert least_cycles_of(wide) == 3 * 1000 / 2


def slowed(path: Any) -> Any:
    return replace(path, cycles=lambda size, rows: 1000.0)


def test_what_must_be_moved_is_a_part_of_the_score(sum_in: Any) -> None:
    space = sum_in(1 << 14)
    assert least_score(space) == pytest.approx((CALL_CYCLES + 4) * (1 + TRAFFIC))
    resident = replace(space, copied=(), spared_bytes=3 * 192)
    assert least_score(resident) == CALL_CYCLES + 4, "nothing is moved"
    half = replace(space, copied=space.copied[:1], spared_bytes=192)
    assert least_score(half) == pytest.approx((CALL_CYCLES + 4) * (1 + TRAFFIC / 2))


def test_every_tile_has_its_call(sum_in: Any) -> None:
    space = sum_in(400)
    search = TilingSearch(space, "auto")
    whole, three = np.array([[6, 8]]), np.array([[2, 8]])
    (one,), (more,) = (bounds_of(search, points) for points in (whole, three))
    assert more - one == pytest.approx(2 * CALL_CYCLES * (1 + TRAFFIC))


@pytest.mark.parametrize("queues", [1, 3])
@pytest.mark.parametrize(("room_bytes", "split"), [(500, True), (4000, True), (4000, False), (9000, False)])
def test_no_tiling_goes_below(room_bytes: int, split: bool, queues: int) -> None:
    space = product_in(room_bytes, split=split)
    space = replace(space, copied=tuple(replace(one, path=replace(one.path, queues=queues)) for one in space.copied))
    search = TilingSearch(space, "auto")
    bounds = bounds_of(search, search.points)
    numbers = range(0, len(bounds), 9 if split else 1)
    found = [(bounds[number], search.at(number)) for number in numbers]
    assert any(one is not None for _, one in found)
    copies = least_copies(space, search.points, search.table)
    computed = copies.scored(space, search.computes(search.points))
    assert (computed >= bounds * (1 - 1e-9)).all(), "whatever is known of the calls makes it no lower"
    assert all(computed[at] <= one.score + 1e-6 for at, (_, one) in zip(numbers, found, strict=True) if one is not None)
    assert all(bound <= one.score + 1e-6 and least_score(space) <= one.score for bound, one in found if one is not None)


def test_what_a_reduction_copies_again_counts() -> None:
    """Both operands of every part are fetched for each tile around it, unless all of an operand is there."""
    space = product_in(1200, split=True)
    search = TilingSearch(space, "auto")
    names = [loop.name for loop in space.cuts]
    rows, columns, depth = (names.index(name) for name in ("m0", "n", "k"))
    points = np.ones((2, 3), np.int64)
    points[:, rows], points[:, columns], points[:, depth] = 4, [16, 4], 20
    few, many = bounds_of(search, points)
    assert many > few * 1.2
