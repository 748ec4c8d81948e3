"""Knows arrays of rational numbers: integers times one unit that all elements share, in 64 bits where they fit.
Does not know any operator, nor irrational functions.

A float32 is an integer times a power of two, so that sums and products of what a file stores are exact here. What
cannot be (a quotient of two computed values, a root) is a multiple of 2**-`FRACTION_BITS`, and says that it is
`rounded`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[Any]

FRACTION_BITS = 160  # of what is rounded
_SMALL = 1 << 62  # below it integers are kept in 64 bits, and the sum of two fits
_MANTISSA = 53


class NotExact(Exception):
    """Why something has no rational value here: an infinity, or an operator that is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rationals:
    """`numerators * unit`. Numerators are int64, or Python's integers (dtype object); the unit is positive."""

    numerators: Array
    unit: Fraction = Fraction(1)
    rounded: bool = False  # some element is off by at most a few units of 2**-FRACTION_BITS

    @property
    def shape(self) -> tuple[int, ...]:
        """As numpy has it."""
        return tuple(self.numerators.shape)

    def at(self, index: tuple[int, ...]) -> Fraction:
        """One element."""
        return int(self.numerators[index]) * self.unit

    def floats(self) -> npt.NDArray[np.float64]:
        """The elements as doubles, off by two roundings at most."""
        import numpy as np

        excess = max(0, peak(self.numerators).bit_length() - 900)  # a double has numbers up to 2**1023
        cut = self.numerators >> excess if excess else self.numerators
        return np.asarray(cut.astype(np.float64) * float(self.unit * (1 << excess)), np.float64)

    def moved(self, move: Callable[[Array], Array]) -> Rationals:
        """The same elements elsewhere."""
        return replace(self, numerators=move(self.numerators))


def peak(numerators: Array) -> int:
    """The largest absolute value."""
    import numpy as np

    return max(int(np.max(numerators)), -int(np.min(numerators))) if numerators.size else 0


def widened(numerators: Array) -> Array:
    """As Python's integers."""
    return numerators.astype(object)


def narrowed(numerators: Array) -> Array:
    """In 64 bits where they fit."""
    import numpy as np

    small = numerators.dtype == object and peak(numerators) < _SMALL
    return numerators.astype(np.int64) if small else numerators


def scaled(numerators: Array, factor: int) -> Array:
    """Each numerator so many times."""
    if factor == 1:
        return numerators
    fits = numerators.dtype != object and max(1, peak(numerators)) * abs(factor) < _SMALL
    return numerators * factor if fits else widened(numerators) * factor


def rationals(array: npt.ArrayLike) -> Rationals:
    """The very values of an array of any type. NotExact for infinities and NaN."""
    import numpy as np

    values = np.asarray(array)
    if values.dtype.kind in "iub":
        return Rationals(numerators=values.astype(np.int64))
    wide = values.astype(np.float64)
    if not np.isfinite(wide).all():
        raise NotExact("there are infinities or NaN")
    mantissas, exponents = np.frexp(wide)
    whole = (mantissas * 2.0**_MANTISSA).astype(np.int64)
    low_bits = np.maximum(whole & -whole, 1)
    zeros = np.log2(low_bits.astype(np.float64)).astype(np.int64)
    exponents = np.where(whole == 0, 0, exponents - _MANTISSA + zeros)
    lowest = int(np.min(exponents[whole != 0], initial=np.iinfo(np.int64).max)) if whole.any() else 0
    shifts = np.where(whole == 0, 0, exponents - lowest)
    odd = whole >> zeros
    fits = int(np.max(shifts, initial=0)) + _MANTISSA < _SMALL.bit_length()
    numerators = odd << shifts if fits else widened(odd) << widened(shifts)
    return _reduced(Rationals(numerators=numerators, unit=Fraction(2) ** lowest))


def _reduced(value: Rationals) -> Rationals:
    """Numerators without a common factor."""
    import numpy as np

    common = int(np.gcd.reduce(value.numerators, axis=None)) if value.numerators.size else 1
    if common in (0, 1):
        return replace(value, unit=Fraction(1)) if common == 0 else value
    return replace(value, numerators=narrowed(value.numerators // common), unit=value.unit * common)


def aligned(values: Sequence[Rationals]) -> tuple[list[Array], Fraction]:
    """The numerators of all in one unit, and the unit."""
    unit = reduce(_common_unit, (value.unit for value in values))
    return [scaled(value.numerators, int(value.unit / unit)) for value in values], unit


def _common_unit(left: Fraction, right: Fraction) -> Fraction:
    shared = math.gcd(left.numerator * right.denominator, right.numerator * left.denominator)
    return Fraction(shared, left.denominator * right.denominator)


def added(first: Rationals, second: Rationals) -> Rationals:
    """The sum, broadcast."""
    (left, right), unit = aligned((first, second))
    return Rationals(numerators=narrowed(left + right), unit=unit, rounded=first.rounded or second.rounded)


def negated(value: Rationals) -> Rationals:
    """-value."""
    return replace(value, numerators=-value.numerators)


def multiplied(first: Rationals, second: Rationals) -> Rationals:
    """The product, broadcast; cut to FRACTION_BITS where a factor is rounded already."""
    left, right = first.numerators, second.numerators
    small = peak(left) * peak(right) < _SMALL
    product = left * right if small else widened(left) * widened(right)
    whole = Rationals(numerators=product, unit=first.unit * second.unit, rounded=first.rounded or second.rounded)
    return _cut(whole) if whole.rounded else whole


def _cut(value: Rationals) -> Rationals:
    """In multiples of 2**-FRACTION_BITS."""
    unit = Fraction(1, 1 << FRACTION_BITS)
    ratio = value.unit / unit
    return Rationals(
        numerators=widened(value.numerators) * ratio.numerator // ratio.denominator, unit=unit, rounded=True
    )


def divided(left: Rationals, right: Rationals) -> Rationals:
    """The quotient, broadcast: exact where there is one divisor. NotExact where a divisor is 0."""
    import numpy as np

    if not np.all(right.numerators):
        raise NotExact("there is a division by 0")
    if right.numerators.size == 1 and not right.rounded:
        divisor = int(right.numerators.reshape(-1)[0]) * right.unit
        shape = np.broadcast_shapes(left.shape, right.shape)
        numerators = np.broadcast_to(left.numerators if divisor > 0 else -left.numerators, shape)
        return replace(left, numerators=numerators, unit=left.unit / abs(divisor))
    ratio = left.unit / right.unit * (1 << FRACTION_BITS)
    numerators = widened(left.numerators) * ratio.numerator // (widened(right.numerators) * ratio.denominator)
    return Rationals(numerators=numerators, unit=Fraction(1, 1 << FRACTION_BITS), rounded=True)


def extreme(values: Sequence[Rationals], choose: Callable[..., Array]) -> Rationals:
    """The largest or the smallest of all, broadcast: `choose` is np.maximum or np.minimum."""
    numerators, unit = aligned(values)
    return Rationals(numerators=reduce(choose, numerators), unit=unit, rounded=any(value.rounded for value in values))
