"""Sets of positions, as intervals."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tilewright.rewrite.slide.intervals import joined, size, without

INTERVALS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=6)


@given(INTERVALS)
def test_joined_intervals_have_the_same_positions_and_are_apart(intervals: list[tuple[int, int]]) -> None:
    result = joined(intervals)
    positions = {at for low, high in intervals for at in range(low, high)}
    assert {at for low, high in result for at in range(low, high)} == positions
    assert size(result) == len(positions)
    assert all(one[1] < other[0] for one, other in pairwise(result))


def test_small_gaps_are_filled() -> None:
    assert joined([(0, 2), (4, 6), (9, 10)], 2) == ((0, 6), (9, 10))


def test_a_hole_leaves_what_lies_around_it() -> None:
    assert without((2, 9), (4, 6)) == ((2, 4), (6, 9))
    assert without((2, 9), (2, 9)) == ()
