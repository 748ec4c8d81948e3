"""The allocation problem as allocators see it: values that compare, and a contract that any class can fulfil."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import pytest

from tilewright.check.allocations.allocation import violations
from tilewright.ir.plans.allocation import Allocator, Block, Budget, Place, Pool, Problem, Solution

ONE = Block(name="a", size_bytes=4, lifetimes=((0, 2),), pools=("ram",))
PROBLEM = Problem(
    blocks=(ONE, replace(ONE, name="b", lifetimes=((2, 3),))), pools=(Pool(name="ram", capacity_bytes=8),)
)


class Stacking:
    name, summary = "stacking", "one above the other"

    def solve(self, problem: Problem, budget: Budget) -> Solution:
        del budget
        places = {block.name: Place(pool="ram", offset_bytes=4 * at) for at, block in enumerate(problem.blocks)}
        return Solution(status="feasible", places=places)


def test_whatever_has_a_name_a_summary_and_solves_is_an_allocator() -> None:
    assert isinstance(Stacking(), Allocator)
    assert not isinstance(object(), Allocator) and not isinstance(Solution(status="unknown"), Allocator)
    assert violations(PROBLEM, Stacking().solve(PROBLEM, Budget())) == ()


@pytest.mark.parametrize(("first", "wrong"), [(2, True), (3, False)])
def test_lifetimes_are_closed_intervals(first: int, wrong: bool) -> None:
    """Both blocks at 0: step 2 is in both lifetimes, step 3 is not."""
    problem = replace(PROBLEM, blocks=(ONE, replace(ONE, name="b", lifetimes=((first, 4),))))
    places = {name: Place(pool="ram", offset_bytes=0) for name in "ab"}
    assert bool(violations(problem, Solution(status="feasible", places=places))) is wrong


def test_reserved_ranges_are_half_open() -> None:
    problem = replace(PROBLEM, blocks=(ONE,), pools=(Pool(name="ram", capacity_bytes=None, reserved=((4, 8),)),))
    found = {}
    for at in (0, 1, 7, 8):
        places = {"a": Place(pool="ram", offset_bytes=at)}
        found[at] = bool(violations(problem, Solution(status="feasible", places=places)))
    assert found == {0: False, 1: True, 7: True, 8: False}


def test_values_are_frozen_and_compare_by_what_they_say() -> None:
    assert replace(ONE) == ONE != replace(ONE, align=2)
    with pytest.raises(FrozenInstanceError):
        ONE.size_bytes = 3  # type: ignore[misc]  # this is what must fail
    assert Budget() == Budget(work=200_000, seed=0)
