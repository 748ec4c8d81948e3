"""Ranges hold whatever the arithmetic that they stand for can give."""

from __future__ import annotations

import itertools

import numpy as np

from tilewright.api.graph import DType
from tilewright_integer_dialect.values import Range, elements, range_in, range_of


def test_ranges_hold_all_results() -> None:
    for low, high, other_low, other_high in ((-3, 5, -2, 7), (2, 4, -9, -1), (0, 0, -1, 1)):
        one, other = Range(low=low, high=high), Range(low=other_low, high=other_high)
        pairs = list(itertools.product(range(low, high + 1), range(other_low, other_high + 1)))
        assert one + other == Range(low=min(a + b for a, b in pairs), high=max(a + b for a, b in pairs))
        assert one * other == Range(low=min(a * b for a, b in pairs), high=max(a * b for a, b in pairs))
        assert -one == Range(low=-high, high=-low)
    assert Range(low=-2, high=3).times(4) == Range(low=-8, high=12)
    assert Range(low=-9, high=9).clamped(0, 4) == Range(low=0, high=4)
    assert Range(low=5, high=9).clamped(0, 4) == Range(low=4, high=4)
    assert Range(low=0, high=1).joined(Range(low=-4, high=0)) == Range(low=-4, high=1)


def test_the_smallest_type_holds_a_range() -> None:
    found = [Range(low=low, high=high).dtype for low, high in ((-128, 127), (0, 128), (-1, 128), (0, 2**31))]
    assert found == [DType.I8, DType.U8, DType.I32, DType.I64]
    assert range_of(DType.U8) == Range(low=0, high=255)
    assert range_in(np.array([-5, 3])) == Range(low=-5, high=3) and range_in(np.zeros(0, np.int64)) == Range(
        low=0, high=0
    )
    assert elements((2, 3, 4), (0, -1)) == 8 and elements(None, (0,)) is None
