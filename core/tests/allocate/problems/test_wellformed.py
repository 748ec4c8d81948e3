"""Problems that make no sense: each fault in words, and nothing wrong with those that make sense."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.allocate.problems.wellformed import demand_wellformed, faults
from tilewright.errors import TilewrightError
from tilewright.ir.plans.allocation import Pool, Problem, Within
from tilewright.testing.allocation_problems import block, joined_problem, ram

GOOD = ram(block("a", 4, 0, 0), block("b", 0, 1, 1))


@pytest.mark.slow
@given(st.randoms(use_true_random=False))
def test_drawn_problems_make_sense(chance: random.Random) -> None:
    assert list(faults(joined_problem(chance))) == []


def pools(*found: Pool) -> Problem:
    return Problem(blocks=(), pools=found)


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (replace(GOOD, blocks=(*GOOD.blocks, GOOD.blocks[0])), "2 blocks are named 'a'"),
        (ram(block("a", -1, 0, 0)), "has -1 bytes"),
        (ram(block("a", 1, 0, 0, align=0)), "aligned to 0"),
        (ram(block("a", 1, 1, 0)), "dies before it is born"),
        (ram(block("a", 1, 0, 0, pools=("moon",))), "which is no pool"),
        (pools(Pool(name="p", capacity_bytes=None, align=16, base=8)), "not aligned to 16"),
        (pools(Pool(name="p", capacity_bytes=-1)), "has -1 bytes"),
        (pools(Pool(name="p", capacity_bytes=None, reserved=((4, 3),))), "reserves a range that is none"),
        (pools(*(Pool(name=n, capacity_bytes=32, base=at) for n, at in (("p", 0), ("q", 16)))), "addresses in common"),
        (replace(GOOD, conflicts=(("a", "x"),)), "a conflict names 'x'"),
        (replace(GOOD, compatible=(("x", "a"),)), "a pair that may overlap names 'x'"),
        (replace(GOOD, within=(Within(block="a", of="x"),)), "'x' is no block"),
    ],
)
def test_each_fault_is_named_alone(problem: Problem, words: str) -> None:
    (found,) = faults(problem)
    assert words in found
    with pytest.raises(TilewrightError) as caught:
        demand_wellformed(problem)
    assert (caught.value.code, caught.value.exit_code) == ("TW5025", 2)


def test_neighbours_and_empty_things_are_no_faults() -> None:
    side_by_side = pools(*(Pool(name=n, capacity_bytes=16, base=at) for n, at in (("p", 16), ("q", 0))))
    assert list(faults(side_by_side)) == []
    assert list(faults(pools(Pool(name="p", capacity_bytes=0, reserved=((0, 0),))))) == []
    assert list(faults(ram(block("a", 0, 0, 0)))) == []
