"""Runs of numbered bytes say what an array of a number per byte would say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.check.plans.byte_runs import Contents, Run, Runs, differences, joined
from tilewright.check.plans.placement import ByteSpan

RUNS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9)), max_size=5)
WRITES = st.lists(st.tuples(st.integers(0, 12), RUNS, st.booleans()), max_size=8)


def _bytes(runs: list[Run] | Runs) -> list[int]:
    return [first + index if first else 0 for size, first in runs for index in range(size)]


@given(RUNS)
def test_equal_bytes_are_equal_runs(runs: list[Run]) -> None:
    found = joined(runs)
    assert _bytes(found) == _bytes(runs)
    assert found == joined((1, number) for number in _bytes(runs))


@given(RUNS, RUNS)
def test_differences_are_the_bytes_with_other_numbers(one: list[Run], other: list[Run]) -> None:
    left, right = _bytes(one), _bytes(other)
    length = min(len(left), len(right))
    expected = [index for index in range(length) if left[index] != right[index]]
    found = list(differences(joined(one), joined(other)))
    assert [at + index for at, size, _ in found for index in range(size)] == expected
    assert all(left[at] == number for at, _, number in found)


@pytest.mark.slow
@given(WRITES, st.integers(0, 12), st.integers(0, 12))
def test_regions_hold_what_was_written_last(writes: list[tuple[int, list[Run], bool]], low: int, size: int) -> None:
    contents, array = Contents(), [0] * 64
    for at, runs, cleared in writes:
        numbers = _bytes(runs)
        span = ByteSpan(region="ram", low=at, high=at + len(numbers))
        array[at : at + len(numbers)] = [0] * len(numbers) if cleared else numbers
        if cleared:
            contents.clear(span)
        else:
            contents.write(span, joined(runs))
    span = ByteSpan(region="ram", low=low, high=low + size)
    assert contents.read(span) == joined((1, number) for number in array[low : low + size])
    assert not any(_bytes(contents.read(ByteSpan(region="flash", low=low, high=low + size))))
