"""Lower bounds, by hand."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.allocate.packing.lower_bound import (
    _grown,
    bytes_away,
    count_of_meetings,
    least_bytes_away,
    lower_bounds,
    neighbours,
)
from tilewright.ir.plans.allocation import Block, Place, Pool, Problem, Solution, Within
from tilewright.testing.allocation_problems import block, ram, random_problem


def test_the_heaviest_moment_counts() -> None:
    assert lower_bounds(ram(block("a", 5, 0, 1), block("b", 7, 1, 3), block("c", 9, 3, 3))) == {"ram": 16}


def test_a_block_with_a_choice_does_not_count() -> None:
    problem = Problem(
        blocks=(block("a", 5, 0, 1), block("b", 7, 0, 1, pools=("ram", "far"))),
        pools=(Pool(name="ram", capacity_bytes=None), Pool(name="far", capacity_bytes=None)),
    )
    assert lower_bounds(problem) == {"ram": 5, "far": 0}


def test_all_but_the_topmost_block_fill_their_last_word() -> None:
    assert lower_bounds(ram(block("a", 5, 0, 0, align=4), block("b", 6, 0, 0, align=8))) == {"ram": 13}


def test_a_fixed_offset_and_a_reserved_range_raise_it() -> None:
    assert lower_bounds(ram(block("a", 4, 0, 0, fixed=100))) == {"ram": 104}
    assert lower_bounds(ram(block("a", 10, 0, 0), reserved=((4, 8), (100, 200)))) == {"ram": 14}


def test_a_range_reserved_at_the_bottom_counts_once_however_often_it_is_named() -> None:
    assert lower_bounds(ram(block("a", 10, 0, 0), reserved=((0, 4),))) == {"ram": 14}
    assert lower_bounds(ram(block("a", 10, 0, 0), reserved=((0, 4), (2, 6), (6, 8)))) == {"ram": 18}


def test_what_is_reserved_of_a_pool_goes_to_the_others() -> None:
    either = ("fast", "slow")
    fast = Pool(name="fast", capacity_bytes=100, reserved=((0, 16), (8, 20), (90, 500)))
    blocks = (block("a", 60, 0, 1, pools=either), block("b", 50, 1, 2, pools=either))
    problem = Problem(blocks=blocks, pools=(fast, Pool(name="slow", capacity_bytes=None)))
    assert lower_bounds(problem) == {"fast": 0, "slow": 40}  # 110 B at once, and 70 of fast are free


def test_compatible_pairs_do_not_add_up_and_explicit_conflicts_do() -> None:
    blocks = (block("a", 4, 0, 1), block("b", 6, 0, 1), block("c", 3, 5, 5))
    pool = (Pool(name="ram", capacity_bytes=None),)
    assert lower_bounds(Problem(blocks=blocks, pools=pool, compatible=(("b", "a"),))) == {"ram": 6}
    assert lower_bounds(Problem(blocks=blocks, pools=pool, conflicts=(("c", "b"), ("a", "c")))) == {"ram": 13}


def test_nothing_needs_nothing() -> None:
    assert lower_bounds(Problem(blocks=(), pools=(Pool(name="ram", capacity_bytes=None),))) == {"ram": 0}
    assert lower_bounds(ram(Block(name="none", size_bytes=0, lifetimes=(), pools=("ram",)))) == {"ram": 0}


def _two(first: int | None, last: int | None, *blocks: Block) -> Problem:
    return Problem(
        blocks=blocks, pools=(Pool(name="fast", capacity_bytes=first), Pool(name="slow", capacity_bytes=last))
    )


def test_a_pool_holds_what_the_others_cannot() -> None:
    either = ("fast", "slow")
    blocks = (block("a", 60, 0, 1, pools=either), block("b", 50, 1, 2, pools=either))
    assert lower_bounds(_two(100, None, *blocks)) == {"fast": 0, "slow": 10}
    assert lower_bounds(_two(None, None, *blocks)) == {"fast": 0, "slow": 0}
    assert lower_bounds(_two(80, 40, *blocks)) == {"fast": 70, "slow": 30}
    assert lower_bounds(_two(100, None, *blocks, block("c", 5, 1, 1, pools=("slow",)))) == {"fast": 0, "slow": 15}


def test_no_plan_is_under_the_bounds_of_several_pools() -> None:
    """Every division of random blocks, each pool at the most bytes alive in it: no packing takes less."""
    for seed in range(40):
        chance = random.Random(seed)
        names = ("p0", "p1", "p2")
        capacities = [chance.choice([20, 40, None]) for _ in names]
        blocks = tuple(
            block(f"b{i}", chance.randint(1, 20), (t := chance.randint(0, 4)), t + chance.randint(0, 2), pools=some)
            for i in range(6)
            for some in [tuple(chance.sample(names, chance.randint(1, 3)))]
        )
        pools = tuple(Pool(name=name, capacity_bytes=size) for name, size in zip(names, capacities, strict=True))
        bounds = lower_bounds(Problem(blocks=blocks, pools=pools))
        for choice in itertools.product(*(one.pools for one in blocks)):
            inside = {name: [b for b, pool in zip(blocks, choice, strict=True) if pool == name] for name in names}
            used = {name: _most_alive(some) for name, some in inside.items()}
            if all(size is None or used[name] <= size for name, size in zip(names, capacities, strict=True)):
                assert all(bounds[name] <= used[name] for name in names), seed


def _most_alive(blocks: list[Block]) -> int:
    return max(sum(b.size_bytes for b in blocks if b.lifetimes[0][0] <= t <= b.lifetimes[0][1]) for t in range(8))


def test_many_blocks_are_counted_at_every_moment() -> None:
    chance = random.Random(5)
    for align in (1, 4):
        lives = [(first, first + chance.randrange(6)) for first in (chance.randrange(30) for _ in range(60))]
        blocks = [block(str(n), align * chance.randint(0, 9), *life, align=align) for n, life in enumerate(lives)]
        alive = [
            sum(one.size_bytes for one, (first, last) in zip(blocks, lives, strict=True) if first <= at <= last)
            for at in range(40)
        ]
        assert lower_bounds(ram(*blocks)) == {"ram": max(alive)}


class Ranks(Mapping[int, int]):
    """Every number's rank is itself; those that are asked for are counted."""

    def __init__(self, count: int) -> None:
        self.count, self.asked = count, 0

    def __getitem__(self, number: int) -> int:
        self.asked += 1
        return number

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.count))

    def __len__(self) -> int:
        return self.count


def test_a_set_grows_among_neighbours_only() -> None:
    """Of a chain of a thousand blocks each meets two: looking at all of them for each was most of `check`."""
    ranks = Ranks(1000)
    adjacent = {number: {number - 1, number + 1} & set(ranks) for number in ranks}
    assert _grown(500, ranks, adjacent) == [500, 499]
    assert ranks.asked == 2


def meet(one: Block, other: Block) -> bool:
    return any(f <= last and first <= g for f, g in one.lifetimes for first, last in other.lifetimes)


def by_definition(problem: Problem, one: Block, other: Block) -> bool:
    if one == other or not one.size_bytes or not other.size_bytes:
        return False
    pair = {one.name, other.name}
    if any(set(names) == pair for names in problem.conflicts):
        return True
    return meet(one, other) and not any(set(names) == pair for names in problem.compatible)


@pytest.mark.slow
@given(st.randoms(use_true_random=False))
def test_every_pair_is_as_the_definition_says(chance: random.Random) -> None:
    problem = random_problem(chance)
    rows = neighbours(problem)
    for index, one in enumerate(problem.blocks):
        wanted = [at for at, other in enumerate(problem.blocks) if by_definition(problem, one, other)]
        assert list(rows[index]) == wanted


def test_the_last_moment_of_one_is_no_first_moment_of_another() -> None:
    one, next_, after = block("a", 1, 0, 3), block("b", 1, 3, 5), block("c", 1, 4, 5)
    assert neighbours(ram(one, next_, after)) == ((1,), (0, 2), (1,))


@pytest.mark.slow
@given(st.randoms(use_true_random=False))
def test_meetings_are_counted_without_being_listed(chance: random.Random) -> None:
    problem = replace(random_problem(chance), compatible=())
    single = replace(problem, blocks=tuple(replace(one, lifetimes=one.lifetimes[:1]) for one in problem.blocks))
    pairs = [(a, b) for at, a in enumerate(single.blocks) for b in single.blocks[at + 1 :] if meet(a, b)]
    assert count_of_meetings(single) == len(pairs) + len(single.conflicts)


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
