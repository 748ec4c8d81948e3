"""Allocation problems by hand and at random: what is promised of them, whatever is drawn."""

from __future__ import annotations

import random

import pytest

from tilewright.testing.allocation_problems import block, joined_problem, ram, random_problem

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


PROBLEMS = [joined_problem(random.Random(seed)) for seed in range(120)]


def test_a_view_lies_inside_of_what_it_is_a_view_of() -> None:
    for problem in PROBLEMS:
        blocks = {block.name: block for block in problem.blocks}
        names = [block.name for block in problem.blocks]
        for link in problem.within:
            assert names.index(link.of) < names.index(link.block)  # no circle
            if link.kind == "view":
                assert 0 <= link.offset_bytes <= blocks[link.of].size_bytes - blocks[link.block].size_bytes
            else:
                assert link.offset_bytes == 0


def test_a_block_has_one_outer_at_most() -> None:
    for problem in PROBLEMS:
        linked = [link.block for link in problem.within]
        assert len(linked) == len(set(linked))


def test_everything_occurs() -> None:
    assert {link.kind for problem in PROBLEMS for link in problem.within} == {"view", "in_place"}
    assert any(link.offset_bytes for problem in PROBLEMS for link in problem.within)
    assert any(block.engines for problem in PROBLEMS for block in problem.blocks)
    kinds = {kind for problem in PROBLEMS for pool in problem.pools for _, kind in pool.access}
    assert kinds == {"ro", "none"}
    whole = [{block.size_bytes % 6 for block in problem.blocks} for problem in PROBLEMS if problem.blocks]
    assert {0} in whole  # all lengths are multiples of the unit
    capacities = [pool.capacity_bytes for problem in PROBLEMS for pool in problem.pools if pool.capacity_bytes]
    assert any(capacity % 6 and capacity % 4 for capacity in capacities)  # though capacities need not be
