"""How many bytes are away from the pools that they prefer, and how many have to be."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import pytest

from tilewright.allocate.problems.away import bytes_away, least_bytes_away
from tilewright.ir.plans.allocation import Block, Place, Pool, Problem, Solution, Within


def _problem(rooms: tuple[int | None, ...], *blocks: tuple[int, int, int], align: int = 1) -> Problem:
    """Blocks of size, first and last, which prefer the pools in their order."""
    names = tuple(f"p{number}" for number in range(len(rooms)))
    return Problem(
        blocks=tuple(
            Block(name=f"b{number}", size_bytes=size, align=align, lifetimes=((first, last),), pools=names)
            for number, (size, first, last) in enumerate(blocks)
        ),
        pools=tuple(Pool(name=name, capacity_bytes=room) for name, room in zip(names, rooms, strict=True)),
    )


def test_bytes_count_once_for_each_pool_before_theirs() -> None:
    problem = _problem((9, 9, None), (3, 0, 0), (4, 0, 0), (5, 0, 0))
    places = {f"b{number}": Place(pool=f"p{number}", offset_bytes=0) for number in range(3)}
    assert bytes_away(problem, Solution(status="feasible", places=places)) == 14


def test_what_is_alive_at_once_and_has_no_room_is_away() -> None:
    pair = ((24, 0, 1), (24, 1, 1))
    for room, least in ((48, 0), (47, 24), (24, 24), (23, 48), (None, 0)):
        assert least_bytes_away(_problem((room, None), *pair)) == least
    assert least_bytes_away(_problem((8, 30, None), *pair)) == 48 + 24
    assert least_bytes_away(_problem((8, None, None), *pair)) == 48
    assert least_bytes_away(_problem((8,), *pair)) == 0


def test_moments_that_share_no_block_add_up() -> None:
    chain = [(10, number, number + 1) for number in range(4)]  # each meets the next
    assert least_bytes_away(_problem((10, None), *chain)) == 20


def test_one_at_the_end_of_a_pool_is_not_rounded_up() -> None:
    pair = ((9, 0, 0), (10, 0, 0))
    assert least_bytes_away(_problem((21, None), *pair, align=4)) == 0
    assert least_bytes_away(_problem((20, None), *pair, align=4)) == 9
    assert least_bytes_away(_problem((12, 9, None), *pair, align=4)) == 9


def test_what_may_be_nowhere_else_takes_its_room_first() -> None:
    problem = _problem((30, None), (20, 0, 0), (20, 0, 0))
    first, second = problem.blocks
    assert least_bytes_away(replace(problem, blocks=(first, replace(second, pools=("p0",))))) == 20
    assert least_bytes_away(replace(problem, blocks=(first, replace(second, pools=("p1",))))) == 0


def test_pairs_that_may_overlap_are_not_both_counted() -> None:
    problem = _problem((20, None), (20, 0, 0), (20, 0, 0))
    assert least_bytes_away(replace(problem, compatible=(("b0", "b1"),))) == 0
    apart = _problem((20, None), (20, 0, 0), (20, 1, 1))
    assert least_bytes_away(replace(apart, conflicts=(("b0", "b1"),))) == 20
    assert least_bytes_away(replace(problem, within=(Within(block="b0", of="b1"),))) == 0


@pytest.mark.parametrize("seed", range(60))
def test_no_division_whose_moments_all_have_room_has_less(seed: int) -> None:
    """Every division of a few blocks, of which only the bytes alive at once are looked at."""
    chance = random.Random(seed)
    blocks = [(chance.randint(1, 9), first := chance.randrange(4), first + chance.randrange(3)) for _ in range(5)]
    problem = _problem((chance.randrange(20), chance.randrange(12), None), *blocks)
    ways = [
        sum(size * pool for (size, _, _), pool in zip(blocks, division, strict=True))
        for division in itertools.product(range(3), repeat=5)
        if all(
            sum(s for (s, first, last), at in zip(blocks, division, strict=True) if at == pool and first <= t <= last)
            <= (problem.pools[pool].capacity_bytes or 0)
            for t in range(6)
            for pool in (0, 1)
        )
    ]
    assert least_bytes_away(problem) <= min(ways)
