"""Rational arrays are the very values, in 64 bits and beyond, and sums, products and quotients of them are exact."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from tilewright.comparison.exact.rationals import (
    FRACTION_BITS,
    NotExact,
    Rationals,
    added,
    aligned,
    divided,
    extreme,
    multiplied,
    negated,
    peak,
    rationals,
    scaled,
)

FLOATS = arrays.arrays(np.float32, 4, elements=st.floats(allow_nan=False, allow_infinity=False, width=32))
INTEGERS = arrays.arrays(np.int32, 4)


def fractions(value: Rationals) -> list[Fraction]:
    return [value.at((index,)) for index in range(value.shape[0])]


@given(values=FLOATS)
def test_every_float_is_what_it_is(values: Any) -> None:
    found = rationals(values)
    assert fractions(found) == [Fraction(float(value)) for value in values]
    np.testing.assert_array_equal(found.floats(), values.astype(np.float64))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "bool", "float16", "float64"])
def test_every_type_is_what_it_is(dtype: str) -> None:
    values = np.array([0, 1, 1, 0]).astype(dtype)
    assert fractions(rationals(values)) == [0, 1, 1, 0]


@given(one=FLOATS, other=st.one_of(FLOATS, INTEGERS))
def test_arithmetic_is_that_of_fractions(one: Any, other: Any) -> None:
    left, right = rationals(one), rationals(other)
    pairs = list(zip(fractions(left), fractions(right), strict=True))
    assert fractions(added(left, right)) == [a + b for a, b in pairs]
    assert fractions(multiplied(left, right)) == [a * b for a, b in pairs]
    assert fractions(negated(left)) == [-a for a, _ in pairs]
    assert fractions(extreme((left, right), np.maximum)) == [max(pair) for pair in pairs]


@given(one=FLOATS, other=FLOATS)
def test_quotients_are_exact_by_one_number_and_close_by_many(one: Any, other: Any) -> None:
    left, right = rationals(one), rationals(np.where(other == 0, 1, other))
    single = Rationals(numerators=right.numerators[:1], unit=right.unit)
    assert fractions(divided(left, single)) == [a / single.at((0,)) for a in fractions(left)]
    quotients = divided(left, right)
    assert quotients.rounded
    for found, a, b in zip(fractions(quotients), fractions(left), fractions(right), strict=True):
        assert 0 <= a / b - found < Fraction(1, 1 << FRACTION_BITS)


def test_integers_grow_beyond_64_bits_where_they_must() -> None:
    large = rationals(np.full(2, 2**40, np.int64))
    product = multiplied(multiplied(large, large), large)
    assert fractions(product) == [2**120, 2**120]
    assert scaled(large.numerators, 1 << 30).dtype == object
    assert scaled(np.zeros(2, np.int64), 1 << 80).tolist() == [0, 0]
    assert rationals(np.array([2.0**100, 2.0**-100])).at((1,)) == Fraction(1, 2**100)
    assert np.isfinite(Rationals(numerators=np.array([10**400], object), unit=Fraction(1, 10**400)).floats()).all()
    assert peak(np.array([-(2**63), 5])) == 2**63


def test_a_common_unit_divides_both() -> None:
    (left, right), unit = aligned(
        (rationals(np.array([0.75])), Rationals(numerators=np.array([5]), unit=Fraction(1, 3)))
    )
    assert (left[0] * unit, right[0] * unit) == (Fraction(3, 4), Fraction(5, 3))


@pytest.mark.parametrize("value", [np.inf, np.nan])
def test_what_is_no_number_is_refused(value: float) -> None:
    with pytest.raises(NotExact, match="infinities or NaN"):
        rationals(np.array([1.0, value]))
    with pytest.raises(NotExact, match="division by 0"):
        divided(rationals(np.ones(2)), rationals(np.array([1.0, 0.0])))
