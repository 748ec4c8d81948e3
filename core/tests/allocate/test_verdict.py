"""What an attempt amounts to: a plan, a proof, or a reason."""

from __future__ import annotations

import pytest

from tilewright.allocate.packing.packing import pack, prepare
from tilewright.allocate.verdict import unaligned, verdict
from tilewright.ir.plans.allocation import Problem, Solution
from tilewright.testing.allocation_problems import block, ram


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
