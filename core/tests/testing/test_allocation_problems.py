"""Allocation problems by hand and at random: what is promised of them, whatever is drawn."""

from __future__ import annotations

import random

import pytest

from tilewright.testing.allocation_problems import block, ram, random_problem

SEEDS = range(60)


def test_by_hand() -> None:
    problem = ram(block("a", 8, 0, 3, align=4, fixed=16), capacity=64, reserved=((0, 4),))
    (pool,), (one,) = problem.pools, problem.blocks
    assert (pool.name, pool.capacity_bytes, pool.reserved) == ("ram", 64, ((0, 4),))
    assert (one.size_bytes, one.align, one.lifetimes, one.fixed_offset) == (8, 4, ((0, 3),), 16)
    assert one.pools == ("ram",)


@pytest.mark.parametrize("extras", [False, True])
def test_a_drawn_problem_is_well_formed_and_the_seeds(extras: bool) -> None:
    for seed in SEEDS:
        problem = random_problem(random.Random(seed), most_blocks=6, extras=extras)
        assert problem == random_problem(random.Random(seed), most_blocks=6, extras=extras)
        names = [one.name for one in problem.blocks]
        assert len(names) == len(set(names)) <= 6
        assert {pool for one in problem.blocks for pool in one.pools} <= {pool.name for pool in problem.pools}
        assert all(first <= last for one in problem.blocks for first, last in one.lifetimes)
        pairs = (*problem.conflicts, *problem.compatible)
        assert all(one != other and {one, other} <= set(names) for one, other in pairs)


def test_without_extras_and_capacities_nothing_is_in_the_way() -> None:
    for seed in SEEDS:
        problem = random_problem(random.Random(seed), extras=False, capacities=False)
        assert not any((problem.conflicts, problem.compatible, *(pool.reserved for pool in problem.pools)))
        assert {pool.capacity_bytes for pool in problem.pools} == {None}
        assert {one.fixed_offset for one in problem.blocks} <= {None}


def test_every_extra_occurs() -> None:
    drawn = [random_problem(random.Random(seed)) for seed in SEEDS]
    assert any(problem.conflicts for problem in drawn) and any(problem.compatible for problem in drawn)
    assert any(pool.reserved for problem in drawn for pool in problem.pools)
    blocks = [one for problem in drawn for one in problem.blocks]
    assert any(one.fixed_offset for one in blocks) and any(len(one.lifetimes) > 1 for one in blocks)
    assert any(not one.size_bytes for one in blocks) and any(len(one.pools) > 1 for one in blocks)
