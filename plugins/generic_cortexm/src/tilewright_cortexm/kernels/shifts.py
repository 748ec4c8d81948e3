"""Knows the numbers of a requantisation that multiplies, adds and shifts (`multiply-shift`), for kernels: of each
channel a multiplier, an addend and a shift, with which a sum becomes `(sum * multiplier + addend) >> shift`, exactly.
Does not know instructions.

What rounds is part of the addend; the zero point is not. Layers whose register wraps around or saturates for some sum
have no such numbers. A quotient whose halves go away from zero (the averages of `tflm`) is one of them, too: with a
multiplier just above `2**shift / denominator` halves leave zero, and with `2**shift` above `2 * denominator * sum` no
other sum comes as near to a half as that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tilewright.api.graph import MultiplyShift, Rational
from tilewright_cortexm.kernels.twice import reaches

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tilewright.api.graph import Requant
    from tilewright.api.kernel import AccumulatorBounds


@dataclass(frozen=True, slots=True, kw_only=True)
class ShiftNumbers:
    """Of one channel."""

    multiplier: int
    addend: int
    shift: int
    reach: int  # how large its sums are, at most


def multiplies_and_shifts(requant: Requant) -> bool:
    """Whether the rounding is `multiply-shift`."""
    return isinstance(requant.rounding, MultiplyShift)


def shift_numbers(requant: Requant, bounds: AccumulatorBounds) -> list[ShiftNumbers] | str:
    """The numbers of every channel, or why there are none."""
    rounding, channels = requant.rounding, len(bounds.lowest)
    if not isinstance(rounding, MultiplyShift):
        return "does not multiply, add and shift"
    if rounding.rounding == "half-even":
        return "halves go to even; this kernel adds the same to every sum"
    multipliers, addends, shifts = (
        terms * channels if len(terms) == 1 else terms
        for terms in (rounding.multiplier, rounding.addend, rounding.shift)
    )
    if min(multipliers) < 0 or max(multipliers) >= 2**31:
        return "a multiplier is negative, or does not fit 32 bits"
    halves = [(1 << shift >> 1) if rounding.rounding == "half-up" else 0 for shift in shifts]
    limit = 1 << (rounding.bits - 1)
    for low, high, multiplier, addend, half in zip(
        bounds.lowest, bounds.highest, multipliers, addends, halves, strict=True
    ):
        if _largest(end * multiplier + more for end in (low, high) for more in (0, addend, addend + half)) >= limit:
            return f"a product, or what is added to it, may leave its register of {rounding.bits} bits"
    return [
        ShiftNumbers(multiplier=multiplier, addend=addend + half, shift=shift, reach=reach)
        for multiplier, addend, half, shift, reach in zip(
            multipliers, addends, halves, shifts, reaches(bounds), strict=True
        )
    ]


def divides(requant: Requant) -> bool:
    """Whether the rounding is a quotient."""
    return isinstance(requant.rounding, Rational)


def quotient_numbers(requant: Requant, bounds: AccumulatorBounds) -> list[ShiftNumbers] | str:
    """The numbers of sums that are divided, or why there are none. All have one shift."""
    rounding = requant.rounding
    if not isinstance(rounding, Rational) or rounding.halves != "away" or set(rounding.numerator) != {1}:
        return "is no quotient whose halves go away from zero"
    result = reaches(bounds)
    divisors = rounding.denominator * (len(result) if len(rounding.denominator) == 1 else 1)
    shift = max((2 * divisor * reach).bit_length() for divisor, reach in zip(divisors, result, strict=True))
    numbers = [
        ShiftNumbers(multiplier=(1 << shift) // divisor + 1, addend=1 << shift >> 1, shift=shift, reach=reach)
        for divisor, reach in zip(divisors, result, strict=True)
    ]
    fits = all(number.multiplier < 2**31 for number in numbers)
    return numbers if fits else "a divisor is so large that its multiplier does not fit 32 bits"


def _largest(values: Iterable[int]) -> int:
    return max(abs(value) for value in values)
