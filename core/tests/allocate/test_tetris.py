"""Random stacking: a block comes to lie on the highest of those that it meets, whatever gaps there are below."""

from __future__ import annotations

import random

import pytest

from tilewright.allocate.tetris import TetrisRandom
from tilewright.check.allocation import peaks, violations
from tilewright.ir.allocation import Budget
from tilewright.testing.allocation_problems import block, ram, random_problem

ONCE = Budget(work=1)  # the given order


def test_blocks_fall_in_the_order_in_which_they_are_given() -> None:
    """`c` meets only `b`, and stays above it: the gap below is not looked at."""
    problem = ram(block("a", 10, 0, 1), block("b", 6, 1, 2), block("c", 4, 2, 3), block("d", 2, 3, 3))
    found = TetrisRandom().solve(problem, ONCE)
    assert {name: place.offset_bytes for name, place in found.places.items()} == {"a": 0, "b": 10, "c": 16, "d": 20}
    assert found.work == 4


def test_offsets_are_aligned() -> None:
    found = TetrisRandom().solve(ram(block("a", 10, 0, 1), block("b", 8, 1, 2, align=8)), ONCE)
    assert found.places["b"].offset_bytes == 16


@pytest.mark.parametrize("seed", range(8))
def test_the_best_of_several_shuffles_is_kept(seed: int) -> None:
    problem = random_problem(random.Random(seed), capacities=False, extras=False)
    once, often = (TetrisRandom().solve(problem, Budget(work=work, seed=seed)) for work in (1, 3000))
    assert violations(problem, often) == ()
    assert sum(peaks(problem, often).values()) <= sum(peaks(problem, once).values())
    assert often == TetrisRandom().solve(problem, Budget(work=3000, seed=seed))


def test_work_is_counted_and_ends_at_the_lower_bound() -> None:
    crossing = ram(block("a", 8, 0, 1), block("b", 16, 1, 2), block("c", 8, 2, 3), block("d", 12, 0, 3))
    assert TetrisRandom().solve(crossing, Budget(work=9)).work <= 8
    assert TetrisRandom().solve(ram(block("a", 8, 0, 1), block("b", 8, 2, 3)), Budget()).work == 2


def test_what_no_pool_is_aligned_for_is_refused() -> None:
    assert TetrisRandom().solve(ram(block("a", 8, 0, 1, align=64)), Budget()).status == "infeasible"
