"""Numbers are rounded as Python rounds fractions: halves to even, and ties are seen as such."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.comparison.exact.rationals import FRACTION_BITS, Rationals
from tilewright.comparison.exact.rounding import from_tie, nearest

NUMERATORS = st.lists(st.one_of(st.integers(-600, 600), st.integers(-(2**70), 2**70)), min_size=1, max_size=6)


@given(numerators=NUMERATORS, unit=st.fractions(Fraction(1, 10**6), 40, max_denominator=10**6))
def test_like_the_fractions_of_python(numerators: list[int], unit: Fraction) -> None:
    array = np.empty(len(numerators), object)
    array[:] = numerators
    whole, ties = nearest(Rationals(numerators=array, unit=unit))
    exact = [numerator * unit for numerator in numerators]
    assert whole.tolist() == [round(number) for number in exact]
    assert ties.tolist() == [(2 * number).denominator == 1 and number.denominator == 2 for number in exact]


@pytest.mark.parametrize("off", [-1, 0, 1])
def test_next_to_a_tie_is_none(off: int) -> None:
    """Where doubles cannot tell."""
    unit = Fraction(1, 1 << 80)
    whole, ties = nearest(Rationals(numerators=np.array([5 * (1 << 79) + off], object), unit=unit))
    assert (whole.tolist(), ties.tolist()) == ([2 if off < 1 else 3], [off == 0])


def test_what_is_rounded_already_is_a_tie_where_it_cannot_be_told() -> None:
    numerators = np.array([(5 << (FRACTION_BITS - 1)) + 3], object)
    unit = Fraction(1, 1 << FRACTION_BITS)
    assert nearest(Rationals(numerators=numerators, unit=unit, rounded=True))[1].tolist() == [True]
    assert nearest(Rationals(numerators=numerators, unit=unit))[1].tolist() == [False]


def test_how_far_from_a_tie() -> None:
    assert [from_tie(Fraction(number)) for number in (0.5, -1.5, 2, -0.25)] == [0, 0, 0.5, 0.25]
