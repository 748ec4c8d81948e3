"""Blocks that never die: each pool as full as it can be."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.allocate.auto import cost
from tilewright.allocate.packing.lower_bound import least_bytes_away
from tilewright.allocate.packing.permanent import pack_in_order, packed_by_preference
from tilewright.check.allocations.allocation import violations
from tilewright.ir.plans.allocation import Block, Place, Pool, Problem, Solution


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


def item(name: str, size: int, align: int = 1, fixed: int | None = None, pools: tuple[str, ...] = ("a", "b")) -> Block:
    return Block(name=name, size_bytes=size, align=align, lifetimes=((0, 0),), pools=pools, fixed_offset=fixed)


def packed(*blocks: Block, capacity: int | None = None, reserved: tuple[tuple[int, int], ...] = ()) -> dict[str, Place]:
    pools = (Pool(name="a", capacity_bytes=capacity, reserved=reserved), Pool(name="b", capacity_bytes=8))
    return pack_in_order(Problem(blocks=blocks, pools=pools))


def test_each_after_the_one_before_it() -> None:
    places = packed(item("x", 5), item("y", 4, align=4), item("z", 1))
    assert [places[name].offset_bytes for name in "xyz"] == [0, 8, 12]


def test_what_does_not_fit_goes_to_the_next_pool_and_the_last_one_takes_all() -> None:
    places = packed(item("x", 8), item("y", 1), item("z", 20), capacity=8)
    assert [places[name].pool for name in "xyz"] == ["a", "b", "b"]
    assert places["z"] == Place(pool="b", offset_bytes=1)


def test_nothing_is_put_where_something_is_reserved_or_demanded() -> None:
    places = packed(item("x", 4), item("y", 4, fixed=6), item("z", 4), reserved=((0, 2),))
    assert [places[name].offset_bytes for name in "xyz"] == [2, 6, 10]
    tight = packed(item("x", 4), item("y", 4, fixed=4), item("z", 4))
    assert [tight[name].offset_bytes for name in "xyz"] == [0, 4, 8]


@pytest.mark.slow
@given(st.randoms(use_true_random=False))
def test_no_two_overlap_and_all_are_aligned(chance: random.Random) -> None:
    blocks = [item(f"b{at}", chance.randint(1, 9), chance.choice([1, 2, 4, 8])) for at in range(8)]
    blocks[3] = replace(blocks[3], fixed_offset=8 * chance.randint(0, 4))
    places = packed(*blocks, capacity=chance.choice([None, 16, 24]))
    for at, one in enumerate(blocks):
        place = places[one.name]
        assert place.offset_bytes % one.align == 0
        for other in blocks[at + 1 :]:
            there = places[other.name]
            apart = place.offset_bytes + one.size_bytes <= there.offset_bytes
            assert place.pool != there.pool or apart or there.offset_bytes + other.size_bytes <= place.offset_bytes
