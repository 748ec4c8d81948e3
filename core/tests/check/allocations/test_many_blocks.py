"""A plan that is said to be right at once is right by the definition, and a right one is seen to be."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.check.allocations.allocation import violations
from tilewright.check.allocations.many_blocks import is_surely_right
from tilewright.ir.plans.allocation import Block, Place, Pool, Problem, Solution, Within
from tilewright.testing.allocation_problems import block, ram


def drawn(chance: random.Random) -> tuple[Problem, Solution]:
    """A small plain problem, and places that are sometimes right."""
    starts = [chance.randint(0, 6) for _ in range(chance.randint(1, 6))]
    pools = ("near", "far")
    blocks = tuple(
        block(
            f"b{at}",
            chance.randint(0, 3),
            start,
            start + chance.randint(0, 3),
            align=chance.choice([1, 1, 2]),
            pools=pools[: chance.randint(1, 2)],
        )
        for at, start in enumerate(starts)
    )
    places = {
        one.name: Place(pool=chance.choice([*one.pools, *one.pools, "far"]), offset_bytes=chance.randint(-1, 12))
        for one in blocks
    }
    problem = Problem(
        blocks=blocks,
        pools=tuple(Pool(name=name, capacity_bytes=chance.choice([None, 14]), align=2) for name in pools),
    )
    return problem, Solution(status="feasible", places=places, bounds={"near": chance.choice([0, 0, 1, 2])})


@given(st.randoms(use_true_random=False))
def test_it_says_what_the_definition_says(chance: random.Random) -> None:
    problem, solution = drawn(chance)
    assert is_surely_right(problem, solution, more_than=0) == (violations(problem, solution) == ())


RIGHT = ram(block("a", 4, 0, 1), block("b", 4, 1, 2), block("c", 4, 2, 3))
PLACES = {name: Place(pool="ram", offset_bytes=at) for name, at in (("a", 0), ("b", 4), ("c", 0))}


def said(problem: Problem, **places: Any) -> bool:
    """With these offsets, which may be no whole numbers."""
    moved = {name: Place(pool="ram", offset_bytes=at) for name, at in places.items()}
    return is_surely_right(problem, Solution(status="feasible", places={**PLACES, **moved}), more_than=0)


def test_blocks_may_touch_and_may_not_overlap() -> None:
    assert said(RIGHT)
    assert said(RIGHT, b=5)
    assert not said(RIGHT, b=3)
    assert not said(RIGHT, c=7)
    assert not said(RIGHT, a=2, b=0, c=9)
    assert not said(RIGHT, b=4.5)
    assert not said(RIGHT, d=20)


@pytest.mark.parametrize(
    "other",
    [
        replace(RIGHT, conflicts=(("a", "c"),)),
        replace(RIGHT, compatible=(("a", "c"),)),
        replace(RIGHT, within=(Within(block="a", of="b"),)),
        replace(RIGHT, blocks=(*RIGHT.blocks[:2], block("c", 4, 2, 3, fixed=0))),
        replace(RIGHT, blocks=(*RIGHT.blocks[:2], replace(RIGHT.blocks[2], engines=(("core", "rw"),)))),
        replace(RIGHT, blocks=(*RIGHT.blocks[:2], Block(name="c", size_bytes=4, lifetimes=(), pools=("ram",)))),
        ram(*RIGHT.blocks, reserved=((50, 60),)),
    ],
)
def test_what_is_more_than_sizes_and_lifetimes_is_left_to_the_definition(other: Problem) -> None:
    assert not said(other)


def test_very_many_blocks_are_refused_with_words() -> None:
    """Six thousand that touch, one of which is a byte too low: it is named, with the first that it meets."""
    problem = ram(*(block(f"b{at}", 4, at, at + 1) for at in range(6_000)))
    places = {f"b{at}": Place(pool="ram", offset_bytes=4 * (at % 2)) for at in range(6_000)}
    assert violations(problem, Solution(status="feasible", places=places)) == ()
    places["b3001"] = Place(pool="ram", offset_bytes=3)
    assert violations(problem, Solution(status="feasible", places=places)) == (
        "blocks 'b3000' and 'b3001' share bytes of pool 'ram'",
    )
