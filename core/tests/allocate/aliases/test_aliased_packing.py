"""Packings of blocks of which some may take bytes of others: never too near, never under the floor."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tilewright.allocate.aliases.alias_bodies import with_bodies
from tilewright.allocate.aliases.aliased_packing import AliasedBuffers, AliasedYard, best_packing
from tilewright.allocate.best_fit import BestFit
from tilewright.check.allocations.allocation import peaks, violations
from tilewright.ir.plans.allocation import Block, Budget, Place, Pool, Problem, Solution

POOL = Pool(name="ram", capacity_bytes=None)


def block(name: str, size_bytes: int, first: int, last: int, fixed: int | None = None) -> Block:
    """Bytes that live from step to step."""
    return Block(
        name=name, size_bytes=size_bytes, align=4, lifetimes=((first, last),), pools=("ram",), fixed_offset=fixed
    )


def over(taker: str, giver: str, lead_bytes: int, *, backward: bool = False) -> AliasedBuffers:
    """`taker` takes bytes of `giver`."""
    return AliasedBuffers(taker=taker, giver=giver, lead_bytes=lead_bytes, backward=backward)


def packed(*blocks: Block, aliases: tuple[AliasedBuffers, ...]) -> tuple[dict[str, int], int, int]:
    """Offsets, the peak, and the floor."""
    yard = AliasedYard(Problem(blocks=blocks, pools=(POOL,)), aliases)
    found = best_packing(yard)
    return {blocks[at].name: offset for at, offset in found.offsets.items()}, found.peak, yard.floor


def test_a_chain_may_turn() -> None:
    x, y, z = block("x", 256, 0, 3), block("y", 128, 3, 6), block("z", 96, 6, 7)
    turning = (over("y", "x", 32), over("z", "y", -48, backward=True))
    assert packed(x, y, z, aliases=turning) == ({"x": 32, "y": 0, "z": 48}, 288, 288)


def test_distances_may_be_longer_where_that_is_lower() -> None:
    """At the shortest distance `y` would lie on top of `low`, and `high` on `y`."""
    low, x, y, high = block("low", 128, 0, 1), block("x", 128, 1, 2), block("y", 64, 2, 3), block("high", 192, 3, 4)
    offsets, peak, floor = packed(low, x, y, high, aliases=(over("y", "x", 16),))
    assert offsets["x"] - offsets["y"] > 16
    assert peak == floor == 256


def test_pins_stay_and_are_no_nearer_than_rows_demand() -> None:
    pinned = block("x", 256, 0, 3, fixed=48)
    offsets, peak, floor = packed(pinned, block("y", 64, 3, 4), aliases=(over("y", "x", 16),))
    assert (offsets, peak, floor) == ({"x": 48, "y": 0}, 304, 304)
    for fixed, near in ((32, False), (36, True), (300, True), (304, False)):
        y = block("y", 64, 3, 4, fixed=fixed)
        yard = AliasedYard(Problem(blocks=(pinned, y), pools=(POOL,)), (over("y", "x", 16),))
        assert (yard.too_near() is not None) is near


def network(seed: int) -> tuple[Problem, tuple[AliasedBuffers, ...]]:
    """Layers, of which some outputs take bytes of what they are computed from, and values that live longer."""
    chance = random.Random(seed)
    blocks = [block(f"x{at}", 4 * chance.randrange(4, 80), at, at + 1) for at in range(chance.randrange(3, 12))]
    pairs = []
    for at in range(1, len(blocks)):
        lag, grown = 4 * chance.randrange(6), blocks[at].size_bytes - blocks[at - 1].size_bytes
        if chance.randrange(3):
            backward = chance.randrange(2) == 1
            pairs.append(over(f"x{at}", f"x{at - 1}", grown - lag if backward else lag, backward=backward))
    starts = [chance.randrange(len(blocks)) for _ in range(chance.randrange(4))]
    more = [block(f"y{at}", 4 * chance.randrange(1, 40), at, at + chance.randrange(4)) for at in dict.fromkeys(starts)]
    return Problem(blocks=(*blocks, *more), pools=(POOL,)), tuple(pairs)


def apart_enough(places: dict[str, int], sizes: dict[str, int], one: AliasedBuffers) -> bool:
    """From the definition alone."""
    taker, giver = places[one.taker], places[one.giver]
    if taker + sizes[one.taker] <= giver or giver + sizes[one.giver] <= taker:
        return True
    return taker >= giver - one.lead_bytes if one.backward else taker + one.lead_bytes <= giver


def alive_together(one: Block, other: Block) -> bool:
    """From the definition alone."""
    return any(first <= end and start <= last for first, last in one.lifetimes for start, end in other.lifetimes)


def least_peak(blocks: Sequence[Block], pairs: Sequence[AliasedBuffers]) -> int:
    """Of all placements whatever: every offset of every block is tried."""
    least = sum(one.size_bytes + one.align for one in blocks)
    over = {frozenset((one.taker, one.giver)): one for one in pairs}

    def may_be(one: Block, other: Block, distance: int) -> bool:
        """With `other` so many bytes behind `one`."""
        if distance >= one.size_bytes or -distance >= other.size_bytes or not alive_together(one, other):
            return True
        pair = over.get(frozenset((one.name, other.name)))
        sizes = {block.name: block.size_bytes for block in (one, other)}
        return pair is not None and apart_enough({one.name: 0, other.name: distance}, sizes, pair)

    distances = range(-least, least)
    right = [
        [{distance for distance in distances if may_be(one, other, distance)} for other in blocks] for one in blocks
    ]

    def place(offsets: tuple[int, ...], peak: int) -> None:
        nonlocal least
        if len(offsets) == len(blocks):
            least = min(least, peak)
            return
        block, new = blocks[len(offsets)], len(offsets)
        for offset in range(0, least - block.size_bytes, block.align):
            end = max(peak, offset + block.size_bytes)
            if end < least and all(offset - at in right[old][new] for old, at in enumerate(offsets)):
                place((*offsets, offset), end)

    place((), 0)
    return least


Lives = tuple[tuple[int, int], ...]


def lives() -> st.SearchStrategy[Lives]:
    """One or two intervals of four moments, mostly all of them."""
    spans = st.tuples(st.integers(0, 3), st.integers(0, 3)).map(lambda ends: (min(ends), max(ends)))
    return st.one_of(st.just(((0, 3),)), st.lists(spans, min_size=1, max_size=2).map(tuple))


@st.composite
def small_problems(draw: st.DrawFn) -> tuple[list[Block], list[AliasedBuffers]]:
    """Up to four blocks; who takes whose bytes is drawn freely: chains, several over one, one over several, rings."""
    numbers, grain = range(draw(st.integers(1, 4))), draw(st.sampled_from((1, 1, 2)))
    blocks = [
        Block(
            name=f"b{at}",
            size_bytes=draw(st.integers(1, 5)),
            align=grain * draw(st.sampled_from((1, 1, 2))),
            lifetimes=draw(lives()),
            pools=("ram",),
        )
        for at in numbers
    ]
    pairs = [
        over(*(f"b{at}" for at in draw(st.permutations(two))), draw(st.integers(-6, 6)), backward=draw(st.booleans()))
        for at in numbers
        for two in ((at, other) for other in range(at))
        if draw(st.booleans())
    ]
    return blocks, draw(st.permutations(pairs))


def alive(*sizes: int) -> list[Block]:
    """Blocks `b0`, `b1` and so on that are there together."""
    return [Block(name=f"b{at}", size_bytes=size, lifetimes=((0, 0),), pools=("ram",)) for at, size in enumerate(sizes)]


CHAIN = over("b0", "b1", 0), over("b1", "b2", 0)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(small_problems())
@example((alive(1, 4, 4), [*CHAIN]))  # the first beside the third, and the second over both
@example((alive(4, 1, 4), [*reversed(CHAIN)]))
@example((alive(1, 1, 4), [over("b0", "b2", -4), over("b1", "b2", -4)]))  # two over the same
@example((alive(4, 1, 1), [over("b0", "b1", 0, backward=True), over("b0", "b2", 0, backward=True)]))
@example((alive(2, 3, 3, 2), [*CHAIN, over("b2", "b3", 0)]))
def test_the_floor_is_never_over_the_least_that_there_is(problem: tuple[list[Block], list[AliasedBuffers]]) -> None:
    blocks, pairs = problem
    yard = AliasedYard(Problem(blocks=tuple(blocks), pools=(POOL,)), pairs)
    assert yard.floor <= least_peak(blocks, pairs) <= best_packing(yard).peak


def test_of_a_chain_the_floor_has_the_largest_and_what_may_overlap_none_of_that() -> None:
    for sizes, floor in (((4, 1, 4), 5), ((2, 4, 3), 5), ((2, 3, 3, 2), 6), ((2, 3), 4)):
        pairs = [over(f"b{at}", f"b{at + 1}", 1) for at in range(len(sizes) - 1)]
        yard = AliasedYard(Problem(blocks=tuple(alive(*sizes)), pools=(POOL,)), pairs)
        assert yard.floor == floor


@pytest.mark.parametrize("seed", range(40))
def test_packings_are_right_and_not_under_the_floor(seed: int) -> None:
    problem, pairs = network(seed)
    yard, sizes = AliasedYard(problem, pairs), {one.name: one.size_bytes for one in problem.blocks}
    free = Problem(blocks=problem.blocks, pools=(POOL,), compatible=tuple((one.taker, one.giver) for one in pairs))
    best = best_packing(yard)
    for packing in (*map(yard.packed, yard.orders()), best):
        places = {problem.blocks[at].name: offset for at, offset in packing.offsets.items()}
        solution = Solution(
            status="feasible", places={name: Place(pool="ram", offset_bytes=at) for name, at in places.items()}
        )
        assert not violations(free, solution)
        assert all(apart_enough(places, sizes, one) for one in pairs)
        assert yard.floor <= best.peak <= packing.peak == peaks(free, solution)["ram"]


@pytest.mark.slow
def test_packings_are_often_lower_than_bodies_and_not_higher() -> None:
    lower = higher = 0
    for seed in range(40):
        problem, pairs = network(seed)
        bodies = with_bodies(problem, pairs)
        (as_bodies,) = peaks(bodies, BestFit().solve(bodies, Budget())).values()
        peak = best_packing(AliasedYard(problem, pairs)).peak
        lower, higher = lower + (peak < as_bodies), higher + (peak > as_bodies)
    assert lower >= 10
    assert higher == 0


def test_the_floor_is_of_what_is_there_at_one_moment() -> None:
    """Lives with gaps, a block of no bytes, and aliases of which only one block is there: from the definition."""
    for seed in range(30):
        problem, pairs = network(seed)
        chance = random.Random(seed)
        lives = [(*one.lifetimes, *((high + 3, high + 4) for _, high in one.lifetimes)) for one in problem.blocks]
        blocks = tuple(
            replace(one, lifetimes=two if chance.randrange(2) else one.lifetimes, size_bytes=one.size_bytes * size)
            for one, two, size in zip(problem.blocks, lives, (0, *[1] * len(lives)), strict=False)
        )
        floors = []
        for moment in range(24):
            there = [one for one in blocks if any(low <= moment <= high for low, high in one.lifetimes)]
            once = tuple(replace(one, lifetimes=((0, 0),)) for one in there)
            names = {one.name for one in there}
            left = [one for one in pairs if {one.taker, one.giver} <= names]
            floors.append(AliasedYard(Problem(blocks=once, pools=(POOL,)), left).floor)
        assert AliasedYard(Problem(blocks=blocks, pools=(POOL,)), pairs).floor == max(floors)
