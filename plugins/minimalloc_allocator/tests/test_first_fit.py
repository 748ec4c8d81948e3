"""Very many blocks: each at its lowest free offset, in C, as a few lines of Python place it."""

from __future__ import annotations

import random
import time

import numpy as np
import pytest

from tilewright.allocate.auto import Auto
from tilewright.allocate.solving import solved
from tilewright.api.allocator import Block, Budget, Place, Pool, Problem, Solution, lower_bounds
from tilewright.check.allocation import peaks, violations
from tilewright.testing.allocation_problems import block, ram
from tilewright_minimalloc.exact import Exact
from tilewright_minimalloc.first_fit import first_fit, yard_of

pytest.importorskip("tilewright_minimalloc._first_fit")


def _drawn(seed: int, count: int, times: int) -> tuple[Block, ...]:
    chance = random.Random(seed)
    born = [chance.randrange(times) for _ in range(count)]
    return tuple(
        block(f"b{i}", chance.randint(1, 40), t, t + chance.randint(0, 9), align=chance.choice([1, 4, 8]))
        for i, t in enumerate(born)
    )


def _by_hand(blocks: tuple[Block, ...], order: list[int]) -> list[int]:
    offsets: dict[int, int] = {}
    for number in order:
        one = blocks[number]
        ((first, last),) = one.lifetimes
        offset = 0
        for low, high in sorted(
            (at, at + blocks[other].size_bytes)
            for other, at in offsets.items()
            if blocks[other].lifetimes[0][0] <= last and first <= blocks[other].lifetimes[0][1]
        ):
            if low >= offset + one.size_bytes:
                break
            offset = max(offset, -(-high // one.align) * one.align)
        offsets[number] = offset
    return [offsets[number] for number in range(len(blocks))]


@pytest.mark.parametrize("seed", range(25))
def test_every_block_is_where_it_is_by_hand(seed: int) -> None:
    blocks = _drawn(seed, count=1 + 6 * seed, times=20)
    yard = yard_of(blocks)
    assert yard is not None
    order = list(range(len(blocks)))
    random.Random(seed).shuffle(order)
    tops = yard.placed(np.array(order))
    assert (tops - yard.sizes).tolist() == _by_hand(blocks, order)


def test_each_order_is_what_it_says() -> None:
    blocks = (block("a", 4, 0, 9), block("b", 9, 0, 1), block("c", 9, 2, 4), block("d", 1, 0, 4), block("e", 1, 8, 9))
    yard = yard_of(blocks)
    assert yard is not None
    by_size, by_area, by_meetings = (order.tolist() for order in yard.orders())
    assert by_size == [2, 1, 0, 3, 4]
    assert by_area == [0, 2, 1, 3, 4]
    assert by_meetings == [0, 3, 1, 2, 4]


def test_blocks_that_end_too_high_go_first_as_long_as_there_is_work() -> None:
    problem = ram(*_drawn(3, count=2_000, times=400))
    bounds = lower_bounds(problem)
    few, more = (_peak(problem, first_fit(problem, bounds, work)) for work in (0, 100_000))
    assert bounds["ram"] <= more < few


def _peak(problem: Problem, places: dict[str, Place] | None) -> int:
    assert places is not None
    found = Solution(status="feasible", places=places)
    assert not violations(problem, found)
    return peaks(problem, found)["ram"]


def test_what_is_more_than_blocks_with_one_lifetime_is_for_others() -> None:
    plain = ram(block("a", 4, 0, 1), block("b", 4, 1, 2))
    assert first_fit(plain, lower_bounds(plain), 0) == {
        "a": Place(pool="ram", offset_bytes=0),
        "b": Place(pool="ram", offset_bytes=4),
    }
    tight = ram(block("a", 4, 0, 1), block("b", 4, 1, 2), capacity=7)
    fixed = ram(block("a", 4, 0, 1, fixed=8))
    reserved = ram(block("a", 4, 0, 1), reserved=((0, 4),))
    gaps = ram(Block(name="a", size_bytes=4, lifetimes=((0, 1), (3, 4)), pools=("ram",)))
    apart = Problem(
        blocks=(block("a", 4, 0, 1), block("b", 4, 3, 4)),
        pools=(Pool(name="ram", capacity_bytes=None),),
        conflicts=(("a", "b"),),
    )
    for other in (tight, fixed, reserved, gaps, apart):
        assert first_fit(other, lower_bounds(other), 0) is None


def test_twenty_thousand_blocks_are_placed_in_seconds() -> None:
    problem = ram(*_drawn(1, count=20_000, times=400))
    started = time.process_time()
    found = Exact().solve(problem, Budget())
    assert time.process_time() - started < 5
    assert found.status in ("optimal", "feasible")
    used = max(found.places[one.name].offset_bytes + one.size_bytes for one in problem.blocks)
    assert used <= 1.1 * found.bounds["ram"]


def test_thousands_of_blocks_are_proved_before_any_heuristics() -> None:
    """These took `auto` 4 s, for a plan 5 % above the bound."""
    chance = random.Random(0)
    starts = [chance.randrange(6_000) for _ in range(3_000)]
    problem = ram(
        *(block(f"b{i}", 16 * chance.randint(1, 256), t, t + chance.randint(1, 119)) for i, t in enumerate(starts))
    )
    started = time.process_time()
    found = solved(problem, Auto(exact=Exact()), Budget())
    assert (found.status, found.found_by) == ("optimal", "minimalloc")
    assert time.process_time() - started < 3
