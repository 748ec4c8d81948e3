"""Who may not share a byte with whom: by the definition, pair by pair."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.allocate.packing.conflicts import count_of_meetings, neighbours
from tilewright.ir.plans.allocation import Block, Problem
from tilewright.testing.allocation_problems import block, ram, random_problem


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
