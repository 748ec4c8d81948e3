"""Hill climbing: no worse than the order that it begins with, the same for the same seed, and within its budget."""

from __future__ import annotations

import random

import pytest

from tilewright.allocate.greedy import GreedyBySize
from tilewright.allocate.hill_climb import HillClimb
from tilewright.check.allocation import peaks, violations
from tilewright.ir.allocation import Budget
from tilewright.testing.allocation_problems import block, ram, random_problem

CROSSING = ram(
    block("a", 12, 0, 1), block("b", 12, 3, 4), block("c", 8, 1, 3), block("d", 8, 4, 6), block("e", 12, 0, 0)
)


@pytest.mark.parametrize("seed", range(12))
def test_never_worse_than_its_first_order(seed: int) -> None:
    problem = random_problem(random.Random(seed), capacities=False, extras=False)
    budget = Budget(work=600, seed=seed)
    found, first = HillClimb().solve(problem, budget), GreedyBySize().solve(problem, budget)
    assert violations(problem, found) == ()
    assert sum(peaks(problem, found).values()) <= sum(peaks(problem, first).values())
    assert found == HillClimb().solve(problem, budget)


def test_swaps_find_what_the_first_order_does_not() -> None:
    better = 0
    for seed in range(40):
        problem = random_problem(random.Random(seed), capacities=False, extras=False)
        budget = Budget(work=4000)
        found, first = HillClimb().solve(problem, budget), GreedyBySize().solve(problem, budget)
        better += sum(peaks(problem, found).values()) < sum(peaks(problem, first).values())
    assert better > 2


def test_it_stops_at_the_lower_bound_and_at_its_budget() -> None:
    assert HillClimb().solve(ram(block("a", 8, 0, 1), block("b", 8, 1, 2)), Budget()).work == 2
    work = HillClimb().solve(CROSSING, Budget(work=23)).work
    assert work % 5 == 0 and work <= 23 + 5
    assert HillClimb().solve(ram(block("a", 8, 0, 1)), Budget()).work == 1


def test_what_no_pool_is_aligned_for_is_refused() -> None:
    assert HillClimb().solve(ram(block("a", 8, 0, 1, align=64)), Budget()).status == "infeasible"
