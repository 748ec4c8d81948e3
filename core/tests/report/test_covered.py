"""Every byte of ranges counts once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tilewright.report.covered import covered_bytes

RANGES = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 20)).map(lambda one: (one[0], one[0] + one[1])))


@given(RANGES)
def test_it_is_the_size_of_the_union(ranges: list[tuple[int, int]]) -> None:
    assert covered_bytes(ranges) == len({byte for low, high in ranges for byte in range(low, high)})
