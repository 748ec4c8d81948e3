"""Loops in a call snippet and in the function that it calls: together they are the walk."""

from __future__ import annotations

import re
from itertools import product

import pytest

from tilewright.operators.c_code.loop_nest import Nest, innermost, nest
from tilewright.operators.c_code.walk import Walk

WALK = Walk(extents=("2", "1", "n", "4"), steps={"X": (48, 7, 0, 1), "Y": (24, 9, 4, 2)})
HEADER = re.compile(r"for \(int32_t (\w+) = 0; \1 < (\w+); \+\+\1\)")


def moved(found: Nest, operand: str) -> list[int]:
    """The offset of an operand at every trip of the nest, where `n` is 3."""
    loops = [match.groups() for header in found.headers if (match := HEADER.fullmatch(header))]
    assert len(loops) == len(found.headers)
    points = product(*(range(int(extent.replace("n", "3"))) for _, extent in loops))
    names = [name for name, _ in loops]
    return [eval(f"0{found.offsets[operand]}", {}, dict(zip(names, point, strict=True))) for point in points]


def test_what_the_function_does_not_loop_over() -> None:
    found = nest(WALK, 1)
    assert moved(found, "Y") == [0, 4, 8, 24, 28, 32]
    assert moved(found, "X") == [0, 0, 0, 48, 48, 48]


def test_loops_of_one_trip_and_steps_of_zero_are_not_written() -> None:
    found = nest(WALK, 1, prefix="r")
    assert found.headers == ("for (int32_t r0 = 0; r0 < 2; ++r0)", "for (int32_t r2 = 0; r2 < n; ++r2)")
    assert found.offsets == {"X": " + r0 * 48", "Y": " + r0 * 24 + r2 * 4"}


@pytest.mark.parametrize("inner", [4, 5])
def test_a_function_that_runs_all_loops(inner: int) -> None:
    assert nest(WALK, inner) == Nest(headers=(), offsets={"X": "", "Y": ""})


def test_innermost() -> None:
    assert innermost(WALK) == ("4", {"X": 1, "Y": 2})
