"""The baselines: largest first, each block into the lowest gap; and swaps from there on, never worse."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from tilewright.allocate.baselines import GreedyBySize, HillClimb
from tilewright.check.allocations.allocation import peaks, violations
from tilewright.ir.plans.allocation import Allocator, Budget, Pool, Problem
from tilewright.testing.allocation_problems import block, ram, random_problem

# `hub` meets everybody, `large` only the hub
STAR = ram(block("large", 40, 0, 1), block("hub", 10, 1, 4), block("one", 10, 2, 3), block("two", 12, 3, 4))
CROSSING = ram(
    block("a", 12, 0, 1), block("b", 12, 3, 4), block("c", 8, 1, 3), block("d", 8, 4, 6), block("e", 12, 0, 0)
)


def places(allocator: Allocator, problem: Problem) -> dict[str, int]:
    return {name: place.offset_bytes for name, place in allocator.solve(problem, Budget()).places.items()}


def test_largest_first() -> None:
    assert places(GreedyBySize(), STAR) == {"large": 0, "two": 0, "hub": 40, "one": 12}
    assert GreedyBySize().solve(STAR, Budget()).work == 4


def test_of_equals_the_one_with_more_conflicts_and_then_by_name() -> None:
    problem = ram(
        block("b", 8, 0, 0), block("a", 8, 0, 0), block("c", 8, 1, 2), block("d", 8, 2, 2), block("e", 4, 1, 1)
    )
    assert places(GreedyBySize(), problem) == {"c": 0, "a": 0, "b": 8, "d": 8, "e": 8}


def test_a_gap_that_is_large_enough_is_taken() -> None:
    problem = ram(block("low", 10, 0, 9, fixed=0), block("high", 10, 0, 9, fixed=30), block("fits", 20, 2, 3))
    assert places(GreedyBySize(), problem)["fits"] == 10
    assert places(GreedyBySize(), replace(problem, blocks=(*problem.blocks[:2], block("more", 21, 2, 3))))["more"] == 40


@pytest.mark.parametrize("allocator", [GreedyBySize(), HillClimb()])
def test_what_the_first_pool_has_no_room_for_is_in_the_next(allocator: Allocator) -> None:
    pools = (Pool(name="fast", capacity_bytes=16), Pool(name="slow", capacity_bytes=None))
    both = ("fast", "slow")
    problem = Problem(blocks=(block("a", 12, 0, 1, pools=both), block("b", 8, 0, 1, pools=both)), pools=pools)
    found = allocator.solve(problem, Budget())
    assert {name: place.pool for name, place in found.places.items()} == {"a": "fast", "b": "slow"}


@pytest.mark.parametrize("allocator", [GreedyBySize(), HillClimb()])
def test_what_no_pool_is_aligned_for_is_refused(allocator: Allocator) -> None:
    found = allocator.solve(ram(block("a", 8, 0, 1, align=64)), Budget())
    assert (found.status, found.places) == ("infeasible", {})


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
