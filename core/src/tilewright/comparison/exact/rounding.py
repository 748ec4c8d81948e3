"""Knows how rational numbers are rounded to integers, halves to even, and which of them lie half-way.
Does not know operators.

Doubles decide wherever they are far enough from half-way; only the others are rounded in rational arithmetic.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tilewright.comparison.exact.rationals import FRACTION_BITS, Rationals, peak

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[Any]

_NEAR = 1e-6  # of half-way: further away a double is right
_CERTAIN = float(1 << 28)  # below it doubles are off by less than _NEAR
_UNSURE = Fraction(1, 1 << (FRACTION_BITS // 2))  # what is rounded already is a tie where it is this near to one


def nearest(value: Rationals) -> tuple[Array, npt.NDArray[np.bool_]]:
    """The nearest integers, halves to even, and which elements lie half-way between two."""
    import numpy as np

    doubles = value.floats()
    whole = np.rint(doubles)
    sure = (np.abs(np.abs(doubles - np.floor(doubles)) - 0.5) > _NEAR) & (np.abs(doubles) < _CERTAIN)
    ties = np.zeros(value.shape, np.bool_)
    large = peak(value.numerators) * value.unit >= _CERTAIN
    result = np.asarray([int(each) for each in whole.reshape(-1)], object).reshape(value.shape) if large else whole
    result = result if large else result.astype(np.int64)
    for place in np.argwhere(~sure):
        index = tuple(int(axis) for axis in place)
        result[index], ties[index] = _rounded(value.at(index), rounded=value.rounded)
    return result, ties


def _rounded(number: Fraction, *, rounded: bool) -> tuple[int, bool]:
    below = number.numerator // number.denominator
    apart = number - below - Fraction(1, 2)
    tie = apart == 0 or (rounded and abs(apart) < _UNSURE)
    return (below + below % 2 if tie else below + (apart > 0)), tie


def from_tie(number: Fraction) -> Fraction:
    """How far a number is from the nearest one that lies half-way between two integers."""
    return abs(number - number.numerator // number.denominator - Fraction(1, 2))
