"""What the exhaustive search calls optimal is the best of all orders, which contain the best of all packings."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.allocate.best_fit import BestFit
from tilewright.allocate.packing.exhaustive import finish_pool
from tilewright.allocate.packing.packing import Packing, pack, prepare
from tilewright.check.allocations.allocation import peaks, violations
from tilewright.ir.plans.allocation import Block, Budget, Problem, Solution
from tilewright.testing.allocation_problems import block, ram, random_problem


def _in_one_pool(problem: Problem) -> Problem:
    return replace(problem, blocks=tuple(replace(item, pools=("near",)) for item in problem.blocks))


def _best_of_all_orders(problem: Problem) -> Packing:
    yard = prepare(problem)
    return min((pack(yard, order, "first") for order in itertools.permutations(yard.movable)), key=lambda p: p.cost)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(st.randoms(use_true_random=False))
def test_small_problems_are_solved_exactly(chance: random.Random) -> None:
    problem = _in_one_pool(random_problem(chance, most_blocks=5))
    solution = BestFit().solve(problem, Budget())
    best = _best_of_all_orders(problem)
    if solution.status == "infeasible":
        assert violations(problem, Solution(status="feasible", places=best.places(problem)))
        return
    assert solution.status == "optimal"
    assert violations(problem, solution) == ()
    assert peaks(problem, solution)["near"] == best.peaks[0]


def test_two_fixed_neighbours_at_one_offset_are_both_avoided() -> None:
    problem = ram(
        block("low", 10, 0, 0, fixed=8),
        block("high", 25, 2, 2, fixed=8),
        Block(name="both", size_bytes=30, lifetimes=((0, 0), (2, 2)), pools=("ram",)),
    )
    yard = prepare(problem)
    finish = finish_pool(yard, 0, (0, 1, 2), peak=100, floor=0, limit=1000)
    assert finish.complete
    assert finish.offsets == {0: 8, 1: 8, 2: 33}


def test_a_spent_limit_is_no_proof() -> None:
    blocks = tuple(block(f"b{i}", 3 + i, i % 3, i % 3 + 2) for i in range(10))
    finish = finish_pool(prepare(ram(*blocks)), 0, tuple(range(10)), peak=10_000, floor=0, limit=5)
    assert not finish.complete
