"""What tiles of every size take and cost, of a sum of two 6 x 8 floats."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tilewright.testing.cluster import CALL_CYCLES, copy_cycles
from tilewright.tile.cost.kernel_costs import tile_cycles
from tilewright.tile.cost.tiling_problem import SpaceTables, TilingProblem

HALVES, UNEVEN = np.array([[3, 8]]), np.array([[6, 3]])  # rows 3 and 3; columns 3, 3 and 2


def at(problem: TilingProblem, size: list[int]) -> int:
    """The number of a point of the grid."""
    return problem.points.tolist().index(size)


def test_buffers_of_all_operands_are_what_a_size_takes_at_least(sum_in: Any) -> None:
    problem = TilingProblem(sum_in(1 << 12), "single")
    least = problem.least_bytes()
    assert least[at(problem, [3, 8])] == 3 * 96
    assert least[at(problem, [1, 1])] == 3 * 8, "rounded up to where the next may begin"
    double = TilingProblem(sum_in(1 << 12), "double")
    assert double.least_bytes()[at(double, [3, 8])] == 2 * 3 * 96


def test_scratch_is_added_where_it_may_still_fit(sum_in: Any) -> None:
    space = sum_in(300)
    needy = replace(space, kernel=replace(space.kernel, scratch_bytes=lambda tile: 20, parallel=()))
    problem = TilingProblem(needy, "single")
    least = problem.least_bytes()
    assert least[at(problem, [3, 8])] == 3 * 96 + 24
    assert least[at(problem, [6, 8])] == 3 * 192, "too large without"
    assert problem.scratches(HALVES).tolist() == [24]
    assert TilingProblem(space, "single").scratches(HALVES).tolist() == [0]


def test_a_remainder_is_computed_as_what_it_is(sum_in: Any) -> None:
    space = sum_in(1 << 12)
    problem = TilingProblem(space, "single")
    of = {columns: tile_cycles(space, {"_lead1": 6, "_lead0": columns}) for columns in (2, 3)}
    assert problem.computes(UNEVEN)[0] == pytest.approx(2 * of[3] + of[2])
    assert problem.computes(HALVES)[0] > 2 * CALL_CYCLES
    assert problem.whole_computes(UNEVEN)[0] == pytest.approx(2 * of[3]), "without the remainder"
    assert problem.whole_computes(HALVES) == problem.computes(HALVES)
    assert (problem.whole_computes(problem.points) <= problem.computes(problem.points)).all()


def test_transfers_of_tiles_and_of_the_whole(sum_in: Any) -> None:
    """Bytes of a buffer, of an average transfer, its cycles, and that it is legal."""
    space = sum_in(1 << 12)
    problem = TilingProblem(space, "single")
    a = space.copied[0]
    both = frozenset(range(len(space.cuts)))
    wanted = [(frozenset[int](), ""), (both, "")]
    whole, tiles = problem.transfers(a, wanted, UNEVEN)
    assert whole[:, 0].tolist() == [192, 192, copy_cycles(192, 1), 1]
    average = (2 * copy_cycles(6 * 12, 6) + copy_cycles(6 * 8, 6)) / 3
    assert tiles[:, 0].tolist() == [6 * 12, 192 / 3, average, 1]
    assert problem.whole_bytes(a) == 192


def test_tables_are_shared_by_spaces_of_a_step(sum_in: Any) -> None:
    space = sum_in(1 << 12)
    tables = SpaceTables(space)
    problems = [TilingProblem(replace(space, available_bytes=room), "single", tables) for room in (100, 1000)]
    assert [problem.available_bytes for problem in problems] == [100, 1000]
    assert TilingProblem(replace(space, available_bytes=None), "single", tables).available_bytes == float("inf")
    problems[0].computes(HALVES)
    assert problems[1].tables.computes
    assert [problem.bound for problem in problems] == [3 * 192, 3 * 192]
