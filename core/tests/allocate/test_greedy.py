"""The two greedy orders: largest first, or most conflicts first; each block into the lowest gap."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tilewright.allocate.greedy import GreedyByConflicts, GreedyBySize
from tilewright.ir.allocation import Allocator, Budget, Pool, Problem
from tilewright.testing.allocation_problems import block, ram

BUDGET = Budget()
# `hub` meets everybody, `large` only the hub
STAR = ram(block("large", 40, 0, 1), block("hub", 10, 1, 4), block("one", 10, 2, 3), block("two", 12, 3, 4))


def places(allocator: Allocator, problem: Problem) -> dict[str, int]:
    return {name: place.offset_bytes for name, place in allocator.solve(problem, BUDGET).places.items()}


def test_largest_first() -> None:
    assert places(GreedyBySize(), STAR) == {"large": 0, "two": 0, "hub": 40, "one": 12}


def test_most_conflicts_first() -> None:
    assert places(GreedyByConflicts(), STAR) == {"hub": 0, "two": 10, "one": 22, "large": 10}


def test_of_equals_the_one_with_more_conflicts_and_then_by_name() -> None:
    problem = ram(
        block("b", 8, 0, 0), block("a", 8, 0, 0), block("c", 8, 1, 2), block("d", 8, 2, 2), block("e", 4, 1, 1)
    )
    assert places(GreedyBySize(), problem) == {"c": 0, "a": 0, "b": 8, "d": 8, "e": 8}


def test_a_gap_that_is_large_enough_is_taken() -> None:
    problem = ram(block("low", 10, 0, 9, fixed=0), block("high", 10, 0, 9, fixed=30), block("fits", 20, 2, 3))
    assert places(GreedyBySize(), problem)["fits"] == 10
    assert places(GreedyBySize(), replace(problem, blocks=(*problem.blocks[:2], block("more", 21, 2, 3))))["more"] == 40


@pytest.mark.parametrize("allocator", [GreedyBySize(), GreedyByConflicts()])
def test_what_the_first_pool_has_no_room_for_is_in_the_next(allocator: Allocator) -> None:
    pools = (Pool(name="fast", capacity_bytes=16), Pool(name="slow", capacity_bytes=None))
    both = ("fast", "slow")
    problem = Problem(blocks=(block("a", 12, 0, 1, pools=both), block("b", 8, 0, 1, pools=both)), pools=pools)
    found = allocator.solve(problem, BUDGET)
    assert {name: place.pool for name, place in found.places.items()} == {"a": "fast", "b": "slow"}
    assert found.work == 2


@pytest.mark.parametrize("allocator", [GreedyBySize(), GreedyByConflicts()])
def test_what_no_pool_is_aligned_for_is_refused(allocator: Allocator) -> None:
    found = allocator.solve(ram(block("a", 8, 0, 1, align=64)), BUDGET)
    assert (found.status, found.places) == ("infeasible", {})
