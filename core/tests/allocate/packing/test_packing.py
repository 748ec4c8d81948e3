"""Placing block after block: gaps that fit are found, a tight one before a loose one, and the cost is what it says."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.allocate.packing.packing import (
    Yard,
    lowest_offset,
    pack,
    pack_at_hints,
    pack_lower,
    pack_no_worse,
    packing_of,
    prepare,
    with_offsets,
)
from tilewright.check.allocations.allocation import violations
from tilewright.ir.plans.allocation import Pool, Problem, Solution
from tilewright.testing.allocation_problems import block, ram, random_problem


def shelf() -> Yard:
    """Blocks that stand, with gaps of 8 and of 4 B between them, and one of 4 B to place."""
    standing = (block("a", 4, 0, 9, fixed=0), block("b", 4, 0, 9, fixed=12), block("c", 4, 0, 9, fixed=20))
    return prepare(ram(*standing, block("new", 4, 0, 9)))


def test_the_first_gap_is_the_lowest_and_the_best_the_tightest() -> None:
    yard = shelf()
    assert pack(yard, yard.movable, "first").offsets[3] == 4
    assert pack(yard, yard.movable, "best").offsets[3] == 16


def test_a_tight_gap_at_the_start_is_kept_for_one() -> None:
    standing = (block("a", 4, 0, 9, fixed=4), block("b", 4, 0, 9, fixed=16))
    yard = prepare(ram(*standing, block("new", 4, 0, 9)))
    assert pack(yard, yard.movable, "best").offsets[2] == 0


def test_what_fits_no_gap_goes_on_top() -> None:
    problem = shelf().problem
    yard = prepare(replace(problem, blocks=(*problem.blocks[:3], block("new", 9, 0, 9, align=4))))
    for gap in ("first", "best"):
        packing = pack(yard, yard.movable, gap)
        assert (packing.offsets[3], packing.peaks) == (24, (33,))


def test_what_is_demanded_is_the_same_in_every_attempt() -> None:
    """In the first pool where its offset is free; blocks of no bytes are in nobody's way."""
    pools = tuple(Pool(name=name, capacity_bytes=size) for name, size in (("near", 8), ("far", None)))
    names = "near", "far"
    blocks = (
        block("none", 0, 0, 9, pools=names),
        block("there", 4, 0, 9, pools=names, fixed=0),
        block("same", 4, 0, 9, pools=names, fixed=2),
        block("beyond", 4, 0, 9, pools=names, fixed=6),
        block("open", 4, 0, 9, pools=names),
    )
    yard = prepare(Problem(blocks=blocks, pools=pools))
    assert yard.settled == ((0, 0), (0, 0), (1, 2), (1, 6), (-1, -1))
    packings = pack(yard, (4,), "first"), pack(yard, (4,), "best"), pack_at_hints(yard)
    assert {tuple(zip(one.pools, one.offsets, strict=True))[:4] for one in packings} == {yard.settled[:4]}
    assert packing_of(yard, (0, 0, 1, 1, 0), (0, 0, 2, 6, 4)) == pack(yard, (4,), "first")


def test_a_hint_is_taken_where_it_is_free_aligned_and_inside() -> None:
    blocks = [replace(block(name, 4, 0, 9, align=2), hint=hint) for name, hint in (("a", 8), ("b", 10), ("c", 3))]
    yard = prepare(ram(*blocks, capacity=32))
    assert pack_at_hints(yard).offsets == (8, 4, 0)
    beyond = prepare(ram(replace(blocks[0], hint=30), capacity=32))
    assert pack_at_hints(beyond).offsets == (0,)


def test_reserved_ranges_are_jumped_over() -> None:
    yard = prepare(ram(block("a", 4, 0, 0, align=4), reserved=((4, 6), (9, 10))))
    assert [lowest_offset(yard, 0, 0, at) for at in (0, 1, 4, 12)] == [0, 12, 12, 12]


def test_the_cost_counts_what_is_beyond_then_what_is_away_then_the_peaks() -> None:
    pools = (Pool(name="near", capacity_bytes=8), Pool(name="far", capacity_bytes=None))
    blocks = tuple(block(name, 6, 0, 0, pools=("near", "far")) for name in "ab")
    yard = prepare(Problem(blocks=blocks, pools=pools))
    assert pack(yard, (0, 1), "first").cost == (0, 6, 12)
    alone = prepare(Problem(blocks=(block("c", 11, 0, 0, pools=("near",)),), pools=pools))
    assert pack(alone, (0,), "first").cost == (3, 0, 11)


@pytest.mark.slow
@given(st.randoms(use_true_random=False))
def test_without_limits_and_demands_every_packing_is_a_plan(chance: random.Random) -> None:
    problem = random_problem(chance, capacities=False, extras=False)
    yard = prepare(problem)
    order = chance.sample(yard.movable, len(yard.movable))
    for gap in ("first", "best"):
        packing = pack(yard, order, gap)
        assert violations(problem, Solution(status="feasible", places=packing.places(problem))) == ()
        assert packing.cost[0] == 0
        assert sum(packing.peaks) >= yard.floor or packing.cost[1] > 0


def test_offsets_are_demanded_of_more_of_the_same_blocks() -> None:
    free = ram(block("a", 4, 0, 9), block("b", 8, 0, 9), block("empty", 0, 0, 9))
    demanded = replace(free, blocks=(replace(free.blocks[0], fixed_offset=20), *free.blocks[1:]))
    other = with_offsets(prepare(free), demanded)
    assert other == replace(prepare(demanded), floor=24)
    assert pack(other, other.movable, "first").offsets == (20, 0, 0)


def in_one_pool(problem: Problem) -> Problem:
    """The same blocks in the first pool."""
    (pool, *_), blocks = problem.pools, problem.blocks
    return replace(problem, pools=(pool,), blocks=tuple(replace(one, pools=(pool.name,), align=4) for one in blocks))


def test_an_order_is_given_up_only_where_its_packing_costs_more() -> None:
    """Of one pool with or without an end, and of several, nothing is told but what whole packings tell."""
    seen, chance = set(), random.Random(0)
    for number in range(80):
        problem = random_problem(chance)
        yard = prepare(in_one_pool(problem) if number % 2 else problem)
        orders = [chance.sample(yard.movable, len(yard.movable)) for _ in range(4)]
        for first, second in pairwise(orders):
            than, other = pack(yard, first, "first"), pack(yard, second, "first")
            assert pack_lower(yard, second, "first", than) == (other if other.cost < than.cost else than)
            assert pack_no_worse(yard, second, "first", than) == (other if other.cost <= than.cost else None)
            seen.add((len(yard.capacities), (other.cost > than.cost) - (other.cost < than.cost)))
    assert seen >= {(pools, order) for pools in (1, 2) for order in (-1, 0, 1)}
