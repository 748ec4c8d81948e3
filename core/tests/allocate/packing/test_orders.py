"""Cheap orders: permutations of what may move, the largest first among them, the same every time."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.allocate.best_fit import BestFit
from tilewright.allocate.packing.orders import cheap_orders, finish_pool, skyline, varied
from tilewright.allocate.packing.packing import Packing, Yard, lowest_offset, pack, prepare
from tilewright.check.allocations.allocation import peaks, violations
from tilewright.ir.plans.allocation import Block, Budget, Problem, Solution
from tilewright.testing.allocation_problems import block, ram, random_problem


@pytest.mark.slow
@given(st.randoms(use_true_random=False))
def test_every_order_has_every_movable_block_once(chance: random.Random) -> None:
    yard = prepare(random_problem(chance))
    if any(not yard.candidates[index] for index in yard.movable):
        return
    orders = cheap_orders(yard)
    assert len(set(orders)) == len(orders)
    assert all(sorted(order) == sorted(yard.movable) for order in orders)
    assert cheap_orders(yard) == orders


def test_the_first_is_by_size() -> None:
    yard = prepare(ram(block("a", 1, 0, 5), block("b", 9, 4, 5), block("c", 9, 3, 5), block("d", 0, 0, 9)))
    assert cheap_orders(yard)[0] == (2, 1, 0)


def test_the_skyline_takes_what_can_start_lowest() -> None:
    """Above the demanded block there is no room below 6 B: what conflicts with it comes last, whatever its life."""
    blocks = block("over", 4, 0, 9), block("free", 4, 5, 6), block("large", 9, 5, 5), block("f", 6, 0, 1, fixed=0)
    yard = prepare(ram(*blocks))
    assert skyline(yard, [10, 2, 1, 2])[0] == 1
    assert skyline(yard, [10, 1, 2, 2])[0] == 2


@pytest.mark.parametrize("count", [2, 9])
def test_another_order_has_the_same_blocks_and_those_to_blame_come_earlier(count: int) -> None:
    order, chance = list(range(count)), random.Random(0)
    every = [varied(order, [count - 1], chance) for _ in range(200)]
    assert all(sorted(one) == order for one in every) and order == list(range(count))
    earlier = sum(one.index(count - 1) < count - 1 for one in every)
    assert earlier > 120 and any(one != order for one in every)


def looked_through(yard: Yard, life: list[int]) -> tuple[int, ...]:
    """The skyline, all that waits looked at for every block, and its start worked out anew."""
    blocks, placed = yard.problem.blocks, dict[int, int]()
    tops = {i: one.fixed_offset + one.size_bytes for i, one in enumerate(blocks) if one.fixed_offset is not None}

    def key(index: int) -> tuple[int, int, int, int]:
        under = max((tops[other] for other in yard.conflicts[index] if other in tops), default=0)
        start = lowest_offset(yard, index, yard.candidates[index][0], under)
        return start, -life[index], -blocks[index].size_bytes, index

    while len(placed) < len(yard.movable):
        found = min(key(index) for index in yard.movable if index not in placed)
        placed[found[-1]], tops[found[-1]] = found[0], found[0] + blocks[found[-1]].size_bytes
    return tuple(placed)


@pytest.mark.slow
@given(st.randoms(use_true_random=False))
def test_the_skyline_is_that_of_looking_through_all_that_waits(chance: random.Random) -> None:
    yard = prepare(random_problem(chance))
    if any(not yard.candidates[index] for index in yard.movable):
        return
    life = [sum(last - first + 1 for first, last in one.lifetimes) for one in yard.problem.blocks]
    assert skyline(yard, life) == looked_through(yard, life)


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
