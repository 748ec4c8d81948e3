"""Blocks that never die: each pool as full as it can be."""

from __future__ import annotations

import itertools
import random
import time

import pytest

from tilewright.allocate.auto import cost
from tilewright.allocate.knapsack import fullest, packed_by_preference
from tilewright.check.allocation import violations
from tilewright.ir.allocation import Block, Pool, Problem, Solution


def _problem(blocks: list[tuple[int, int]], first: int | None, last: int | None = None) -> Problem:
    return Problem(
        blocks=tuple(
            Block(name=f"c{i}", size_bytes=size, align=align, lifetimes=((0, 9),), pools=("itcm", "flash"))
            for i, (size, align) in enumerate(blocks)
        ),
        pools=(
            Pool(name="itcm", capacity_bytes=first, reserved=((0, 16),)),
            Pool(name="flash", capacity_bytes=last, reserved=((0, 16),)),
        ),
    )


@pytest.mark.parametrize("seed", range(30))
def test_the_fullest_choice_is_that_of_all_choices(seed: int) -> None:
    chance = random.Random(seed)
    sizes = [chance.randint(0, 40) for _ in range(chance.randint(0, 9))]
    room = chance.randint(-3, 150)
    found = fullest(sizes, room)
    sums = (sum(some) for count in range(len(sizes) + 1) for some in itertools.combinations(sizes, count))
    assert sum(sizes[number] for number in found) == max((total for total in sums if total <= room), default=0)


def test_very_many_sizes_go_in_by_size_until_the_rest_is_exact() -> None:
    sizes = [1_000 + 7 * number for number in range(2_000)]
    started = time.process_time()
    assert sum(sizes[number] for number in fullest(sizes, 4_000_003)) >= 4_000_000
    assert time.process_time() - started < 5


@pytest.mark.parametrize("seed", range(20))
def test_two_pools_are_as_good_as_the_best_division(seed: int) -> None:
    """Of all divisions and, because alignments leave gaps, all orders in the first pool."""
    chance = random.Random(seed)
    blocks = [(4 * chance.randint(1, 20) + chance.choice([0, 0, 2]), 4) for _ in range(6)]
    problem = _problem(blocks, 16 + sum(size for size, _ in blocks) // 2)
    found = Solution(status="feasible", places=packed_by_preference(problem) or {})
    assert not violations(problem, found)
    room = (problem.pools[0].capacity_bytes or 0) - 16
    away = min(
        sum(size for size, _ in blocks) - sum(blocks[number][0] for number in some)
        for count in range(7)
        for some in itertools.combinations(range(6), count)
        if _taken([blocks[number][0] for number in some]) <= room
    )
    assert cost(problem, found)[0] <= away + 2 * len(blocks)  # two bytes a block are lost to alignment
    if all(size % 4 == 0 for size, _ in blocks):
        assert cost(problem, found)[0] == away


def _taken(sizes: list[int]) -> int:
    whole = [-(-size // 4) * 4 for size in sizes]
    return sum(whole) - max((up - size for up, size in zip(whole, sizes, strict=True)), default=0)


def test_coarsely_aligned_blocks_come_first() -> None:
    problem = _problem([(4, 4), (32, 16), (4, 4), (16, 16)], 16 + 56, 16)
    found = Solution(status="feasible", places=packed_by_preference(problem) or {})
    assert not violations(problem, found)


def test_a_demanded_offset_is_for_an_allocator() -> None:
    block = Block(name="c", size_bytes=4, lifetimes=(), pools=("p",), fixed_offset=32)
    assert packed_by_preference(Problem(blocks=(block,), pools=(Pool(name="p", capacity_bytes=64),))) is None
