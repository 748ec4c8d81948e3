"""No allocator is believed: wrong answers are errors, proofs are its own, pools that are too small need no search."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tilewright.allocate.packing.packing import pack, prepare
from tilewright.allocate.problems.normalise import Normal, normalised
from tilewright.allocate.solving import bounds_of, solved, unaligned, verdict
from tilewright.errors import TilewrightError
from tilewright.ir.plans.allocation import Budget, Place, Problem, Solution, Within
from tilewright.testing.allocation_problems import block, ram

PROBLEM = ram(block("a", 4, 0, 1), block("b", 4, 1, 2))
RIGHT = Solution(
    status="feasible", places={"a": Place(pool="ram", offset_bytes=0), "b": Place(pool="ram", offset_bytes=4)}
)


class Says:
    """An allocator that answers the same, at the scale of what it is asked, and counts how often it is asked."""

    name, summary = "says", ""

    def __init__(self, answer: Solution) -> None:
        self.answer, self.asked = answer, 0

    def solve(self, problem: Problem, budget: Budget) -> Solution:
        self.asked += 1
        scale = 4 // problem.blocks[0].size_bytes
        shrunk = {
            n: replace(place, offset_bytes=place.offset_bytes // scale) for n, place in self.answer.places.items()
        }
        return replace(self.answer, places=shrunk)


def test_a_plan_that_meets_its_bound_is_optimal_whatever_is_said() -> None:
    found = solved(PROBLEM, Says(RIGHT), Budget())
    assert (found.status, found.found_by, found.bounds) == ("optimal", "says", {"ram": 8})
    assert found.places == RIGHT.places


def test_one_above_its_bound_is_what_is_said() -> None:
    high = {**RIGHT.places, "b": Place(pool="ram", offset_bytes=8)}
    assert solved(PROBLEM, Says(replace(RIGHT, places=high)), Budget()).status == "feasible"


@pytest.mark.parametrize("places", [{}, {**RIGHT.places, "b": Place(pool="ram", offset_bytes=0)}])
def test_a_wrong_plan_is_an_error(places: dict[str, Place]) -> None:
    with pytest.raises(TilewrightError) as caught:
        solved(PROBLEM, Says(replace(RIGHT, places=places)), Budget())
    assert caught.value.code == "TW8050" and "says" in caught.value.message


def test_something_else_than_a_solution_is_an_error_that_names_the_allocator() -> None:
    class Forgets(Says):
        def solve(self, problem: Problem, budget: Budget) -> Any:
            return dict(super().solve(problem, budget).places)

    with pytest.raises(TilewrightError, match=r"TW8062\]: allocator 'says': solve must return a Solution, found dict"):
        solved(PROBLEM, Forgets(RIGHT), Budget())


def test_without_a_plan_there_are_no_places() -> None:
    assert solved(PROBLEM, Says(replace(RIGHT, status="unknown")), Budget()).places == {}


def test_nobody_is_asked_what_the_bound_answers() -> None:
    asked = Says(RIGHT)
    found = solved(ram(*PROBLEM.blocks, capacity=7), asked, Budget())
    assert (found.status, asked.asked) == ("infeasible", 0)
    assert "holds 7 B" in found.reason and "need 8 B" in found.reason
    assert solved(ram(*PROBLEM.blocks, capacity=8), asked, Budget()).status == "optimal"


def test_bytes_that_are_there_for_alignment_only_are_in_no_bound() -> None:
    """The view is 3 bytes into a buffer and aligned to 4: the piece begins with a byte that nobody needs."""
    blocks = (block("inner", 4, 0, 0, align=4), block("outer", 12, 0, 0))
    problem = replace(ram(*blocks), within=(Within(block="inner", of="outer", offset_bytes=3),))
    normal = normalised(problem)
    assert isinstance(normal, Normal) and not normal.exact
    assert bounds_of(normal) == {"ram": 12}


def judged(problem: Problem, *, closed: bool = False) -> Solution:
    yard = prepare(problem)
    return verdict(problem, yard, pack(yard, yard.movable, "first"), closed, 7)


def test_a_plan_at_its_bound_is_optimal() -> None:
    found = judged(ram(block("a", 4, 0, 1), block("b", 4, 1, 2), capacity=8))
    assert (found.status, found.work) == ("optimal", 7)
    assert {place.offset_bytes for place in found.places.values()} == {0, 4}


def test_a_plan_above_its_bound_is_feasible_unless_nothing_better_exists() -> None:
    loose = ram(block("a", 2, 0, 0), block("b", 2, 0, 1), block("c", 3, 1, 1))
    assert judged(loose).status == "feasible"
    assert judged(loose, closed=True).status == "optimal"


def test_what_is_over_a_limit_is_proved_or_not() -> None:
    over = ram(block("a", 4, 0, 0), block("b", 6, 0, 0), capacity=8)
    assert (judged(over).status, "alive at once" in judged(over).reason) == ("infeasible", True)
    late = ram(block("a", 2, 0, 0), block("b", 2, 0, 1), block("c", 3, 1, 1, fixed=0), capacity=4)
    assert judged(late).status == "infeasible" and not judged(late).places


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (ram(block("a", 4, 0, 0, align=4, fixed=2)), "not a multiple of 4"),
        (ram(block("a", 4, 0, 0, fixed=0), reserved=((3, 5),)), "inside a reserved range"),
        (ram(block("a", 4, 0, 0, fixed=0), block("b", 4, 0, 0, fixed=3)), "overlap"),
    ],
)
def test_demands_that_cannot_be_met(problem: Problem, words: str) -> None:
    found = judged(problem)
    assert (found.status, found.places) == ("infeasible", {})
    assert words in found.reason


def test_demands_that_only_touch_are_met() -> None:
    touching = ram(block("a", 4, 0, 0, fixed=0), block("b", 4, 0, 0, fixed=4), capacity=12, reserved=((8, 9),))
    assert judged(touching).status == "optimal"


def test_a_block_that_no_pool_is_aligned_enough_for() -> None:
    refused = unaligned(ram(block("a", 1, 0, 0, align=32)))
    assert refused is not None and "'a'" in refused.reason
    assert unaligned(ram(block("a", 1, 0, 0, align=16))) is None
