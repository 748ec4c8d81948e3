"""Blocks that never die: each pool as full as it can be."""

from __future__ import annotations

import itertools
import random

import pytest

from tilewright.allocate.auto import cost
from tilewright.allocate.packing.knapsack import packed_by_preference
from tilewright.allocate.problems.away import least_bytes_away
from tilewright.check.allocations.allocation import violations
from tilewright.ir.plans.allocation import Block, Pool, Problem, Solution


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


@pytest.mark.parametrize("seed", range(60))
def test_two_pools_are_as_good_as_the_best_division(seed: int) -> None:
    """Of all divisions: what is rounded up counts as it is, and the last one in a pool is not rounded."""
    chance = random.Random(seed)
    blocks = [(4 * chance.randint(1, 20) - chance.choice([0, 0, 1, 2, 3]), 4) for _ in range(6)]
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
    assert cost(problem, found)[0] == away == least_bytes_away(problem)


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
