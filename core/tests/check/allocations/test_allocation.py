"""The checker of solutions sees every way in which one can be wrong."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.check.allocations.allocation import is_surely_right, peaks, violations
from tilewright.ir.plans.allocation import Block, Place, Pool, Problem, Solution, Within
from tilewright.testing.allocation_problems import block, ram

PROBLEM = Problem(
    blocks=(
        block("a", 16, 0, 1, align=4),
        block("b", 8, 1, 2, align=4),
        block("c", 8, 2, 3, align=4),
        block("fixed", 4, 0, 3, fixed=40),
        block("none", 0, 0, 3),
        Block(name="gap", size_bytes=8, lifetimes=((0, 0), (3, 3)), pools=("ram",)),
        block("x", 4, 5, 6, pools=("other",)),
        block("y", 4, 5, 6, pools=("other",)),
        block("z", 4, 8, 8, pools=("other",)),
    ),
    pools=(
        Pool(name="ram", capacity_bytes=64, align=8, reserved=((56, 64),)),
        Pool(name="other", capacity_bytes=None),
    ),
    conflicts=(("z", "y"),),
    compatible=(("y", "x"),),
)
GOOD = {
    "a": ("ram", 0),
    "b": ("ram", 16),
    "c": ("ram", 0),
    "fixed": ("ram", 40),
    "none": ("ram", 0),
    "gap": ("ram", 24),
    "x": ("other", 0),
    "y": ("other", 0),
    "z": ("other", 4),
}


def _solution(**changes: tuple[str, int] | None) -> Solution:
    places = {name: Place(pool=at[0], offset_bytes=at[1]) for name, at in {**GOOD, **changes}.items() if at}
    return Solution(status="feasible", places=places)


def test_a_right_solution_has_no_violations() -> None:
    assert violations(PROBLEM, _solution()) == ()
    assert peaks(PROBLEM, _solution()) == {"ram": 44, "other": 8}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"b": None}, "'b' has no place"),
        ({"stranger": ("ram", 0)}, "'stranger' is placed but not in the problem"),
        ({"b": ("nowhere", 0)}, "which is no pool"),
        ({"b": ("other", 100)}, "may not be in pool 'other'"),
        ({"b": ("ram", -4)}, "starts at -4"),
        ({"b": ("ram", 18)}, "not aligned to 4"),
        ({"b": ("ram", 60)}, "ends at 68"),
        ({"b": ("ram", 52)}, "reserved"),
        ({"fixed": ("ram", 44)}, "not at 40 as demanded"),
        ({"b": ("ram", 12)}, "'a' and 'b' share bytes"),
        ({"b": ("ram", 0)}, "'a' and 'b' share bytes"),
        ({"gap": ("ram", 4)}, "'a' and 'gap' share bytes"),
        ({"z": ("other", 2)}, "'y' and 'z' share bytes"),
    ],
)
def test_every_fault_is_seen(changes: dict[str, tuple[str, int] | None], words: str) -> None:
    assert any(words in fault for fault in violations(PROBLEM, _solution(**changes)))


def test_a_block_that_needs_more_alignment_than_its_pool_has_is_seen() -> None:
    problem = Problem(blocks=(block("a", 4, 0, 0, align=32),), pools=(Pool(name="ram", capacity_bytes=None),))
    solution = Solution(status="feasible", places={"a": Place(pool="ram", offset_bytes=0)})
    assert any("needs alignment 32" in fault for fault in violations(problem, solution))


TWO_POOLS = tuple(Pool(name=name, capacity_bytes=None) for name in ("ram", "other"))


def torn(at: Place, *, offset: int = 4, size: int = 4) -> list[str]:
    """What is wrong with a view of `size` B that is `offset` after the start of 8 B at 16, where it is at `at`."""
    blocks = (block("outer", 8, 0, 0), block("view", size, 0, 0, pools=("ram", "other")))
    link = Within(block="view", of="outer", offset_bytes=offset)
    places = {"outer": Place(pool="ram", offset_bytes=16), "view": at}
    solution = Solution(status="feasible", places=places)
    found = violations(Problem(blocks=blocks, pools=TWO_POOLS, within=(link,)), solution)
    return [line for line in found if "view" in line]


@pytest.mark.parametrize(("offset", "size"), [(4, 4), (0, 8), (0, 1), (7, 1)])
def test_a_view_is_where_its_link_puts_it(offset: int, size: int) -> None:
    assert torn(Place(pool="ram", offset_bytes=16 + offset), offset=offset, size=size) == []


def test_a_view_that_is_torn_off_is_found() -> None:
    assert any("where it belongs" in line for line in torn(Place(pool="other", offset_bytes=20)))
    assert any("where it belongs" in line for line in torn(Place(pool="ram", offset_bytes=24)))


@pytest.mark.parametrize(("offset", "size"), [(5, 4), (-1, 4), (1, 8)])
def test_a_view_that_sticks_out_is_found(offset: int, size: int) -> None:
    found = torn(Place(pool="ram", offset_bytes=16 + offset), offset=offset, size=size)
    assert any("does not lie inside" in line for line in found)


def test_a_block_may_end_where_its_pool_does() -> None:
    full = Problem(blocks=(block("a", 16, 0, 1),), pools=(Pool(name="ram", capacity_bytes=16),))
    for offset, words in ((0, ""), (1, "ends at 17")):
        solution = Solution(status="feasible", places={"a": Place(pool="ram", offset_bytes=offset)})
        found = "\n".join(violations(full, solution))
        assert (words in found) if words else found == ""


def test_a_piece_lives_as_long_as_any_of_its_blocks() -> None:
    blocks = (block("outer", 8, 0, 0), block("view", 4, 2, 2), block("other", 8, 2, 2))
    link = Within(block="view", of="outer", offset_bytes=4)
    problem = Problem(blocks=blocks, pools=TWO_POOLS, within=(link,))
    places = {"outer": Place(pool="ram", offset_bytes=0), "view": Place(pool="ram", offset_bytes=4)}
    for offset, words in ((4, "'outer' and 'other' share bytes"), (8, "")):
        there = {**places, "other": Place(pool="ram", offset_bytes=offset)}
        found = "\n".join(violations(problem, Solution(status="feasible", places=there)))
        assert (words in found) if words else found == ""


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
