"""Loads that take most of a room: against every choice."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest
from counted import counted
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.allocate.packing.permanent import NOTHING, Load, fullest, joined_loads, surely_fullest

LOADS = st.lists(
    st.builds(
        lambda size, up, last: Load(size_bytes=size, whole_bytes=size + up, spare_bytes=up * last),
        st.integers(0, 30),
        st.sampled_from([0, 0, 1, 2, 5]),
        st.booleans(),
    ),
    max_size=8,
)


def _taken(loads: Sequence[Load]) -> int:
    whole = joined_loads(loads)
    return whole.whole_bytes - whole.spare_bytes


def _size(loads: Sequence[Load], numbers: Sequence[int] | set[int]) -> int:
    return sum(loads[number].size_bytes for number in numbers)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(LOADS, st.integers(-3, 120), st.none() | st.just(Load(size_bytes=5, whole_bytes=8, spare_bytes=3)))
def test_no_choice_that_fits_has_more_bytes(loads: list[Load], room: int, there: Load | None) -> None:
    held = there or NOTHING
    numbers = range(len(loads))
    fitting = [
        some
        for count in range(len(loads) + 1)
        for some in itertools.combinations(numbers, count)
        if _taken([held, *(loads[number] for number in some)]) <= room
    ]
    found = surely_fullest(loads, room, held)
    assert found == fullest(loads, room, held)
    assert found is not None
    assert not fitting or _taken([held, *(loads[number] for number in found)]) <= room
    assert _size(loads, found) == max((_size(loads, some) for some in fitting), default=0)


def test_very_many_sizes_go_in_by_size_until_the_rest_is_exact() -> None:
    loads = [Load(size_bytes=1_000 + 7 * number, whole_bytes=1_000 + 7 * number) for number in range(2_000)]
    assert surely_fullest(loads, 4_000_003) is None
    found, calls = counted(lambda: fullest(loads, 4_000_003))
    assert 4_000_000 <= _size(loads, found) <= 4_000_003
    assert calls < 20 * len(loads)


def test_very_many_that_are_rounded_count_whole() -> None:
    loads = [Load(size_bytes=16 * n - n % 13, whole_bytes=16 * n, spare_bytes=n % 13) for n in range(1, 200)]
    found = fullest(loads, 50_000)
    assert surely_fullest(loads, 50_000) is None
    assert _taken([loads[number] for number in found]) <= 50_000
    assert sum(loads[number].whole_bytes for number in found) >= 49_984


def test_equal_sizes_are_counted_in_their_own_unit() -> None:
    loads = [Load(size_bytes=4096, whole_bytes=4096)] * 5_000
    assert len(surely_fullest(loads, 1 << 24) or ()) == 4096
