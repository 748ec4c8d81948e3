"""Lower bounds, by hand."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping

from tilewright.allocate.packing.lower_bound import _grown, lower_bounds
from tilewright.ir.plans.allocation import Block, Pool, Problem
from tilewright.testing.allocation_problems import block, ram


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
