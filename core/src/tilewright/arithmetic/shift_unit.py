"""Knows what a unit can do that multiplies a sum, adds and shifts; and the numbers nearest to a layer's scales on it.
Does not know whether they give what another arithmetic gives: `free_proof` does.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from tilewright.arithmetic.bounds import AccumulatorBounds
from tilewright.ir.tensors.roundings import MultiplyShift


@dataclass(frozen=True, slots=True, kw_only=True)
class ShiftUnit:
    """`clip((acc * multiplier + addend) >> shift + zero_point)` as a unit has it: the widths of its registers.

    Multipliers are from 0 to `2**multiplier_bits - 1`. An addend is a signed number of `addend_bits` for each channel,
    none where they are 0. Products and sums are held in `bits`, where they wrap around or saturate. A unit that rounds
    by itself (`half-up`, `half-even`) does so within the same register. One that adds no zero point behind its shift
    (`zero_point_behind` False) has it in its addend, shifted.
    """

    multiplier_bits: int = 31
    addend_bits: int = 32
    largest_shift: int = 31
    smallest_shift: int = 0
    shift_per_channel: bool = False
    rounding: Literal["floor", "half-up", "half-even"] = "half-up"
    bits: int = 32
    overflow: Literal["wraps", "saturates"] = "wraps"
    zero_point_behind: bool = True

    @property
    def shifts(self) -> range:
        """Every shift that it can do, coarsest first."""
        return range(self.smallest_shift, self.largest_shift + 1)

    def holds(self, multiplier: int, addend: int, shift: int, reach: tuple[int, int]) -> bool:
        """Whether nothing overflows on any sum of `reach`, what it adds to round included."""
        half = 0 if self.rounding == "floor" else 1 << shift >> 1
        ends = [end * multiplier for end in reach]
        low, high = min(*ends, min(ends) + addend), max(*ends, max(ends) + addend + half)
        fits = multiplier < 2**self.multiplier_bits and -(2 ** (self.bits - 1)) <= low and high < 2 ** (self.bits - 1)
        return fits and (addend == 0 or -(2**self.addend_bits) <= 2 * addend < 2**self.addend_bits)


def nearest(unit: ShiftUnit, ratios: tuple[Fraction, ...], bounds: AccumulatorBounds) -> MultiplyShift | str:
    """The multipliers nearest to the ratios at the finest shift on which nothing overflows; a unit that rounds down is
    given half a step as its addend, where it has one. Or why there is none.
    """
    reaches = tuple(zip(bounds.lowest, bounds.highest, strict=True))
    if len(ratios) == 1:
        reaches = ((min(bounds.lowest), max(bounds.highest)),)
    fitting = [
        [shift for shift in unit.shifts if _does(unit, ratio, shift, reach)]
        for ratio, reach in zip(ratios, reaches, strict=True)
    ]
    common = set(unit.shifts).intersection(*fitting)
    if not all(fitting) or not (common or unit.shift_per_channel):
        return f"no shift up to {unit.largest_shift} keeps every product within {unit.bits} bits, and every multiplier"
    shifts = tuple(map(max, fitting)) if unit.shift_per_channel else (max(common),) * len(ratios)
    result = [_numbers(unit, ratio, shift) for ratio, shift in zip(ratios, shifts, strict=True)]
    return MultiplyShift(
        multiplier=_once(tuple(multiplier for multiplier, _ in result)),
        addend=_once(tuple(addend for _, addend in result)),
        shift=_once(shifts),
        rounding=unit.rounding,
        bits=unit.bits,
        overflow=unit.overflow,
    )


def _does(unit: ShiftUnit, ratio: Fraction, shift: int, reach: tuple[int, int]) -> bool:
    """Whether nothing overflows, and a scale that is not 0 keeps a multiplier that is not."""
    multiplier, addend = _numbers(unit, ratio, shift)
    return (multiplier > 0 or not ratio) and unit.holds(multiplier, addend, shift, reach)


def _numbers(unit: ShiftUnit, ratio: Fraction, shift: int) -> tuple[int, int]:
    addend = 1 << shift >> 1 if unit.rounding == "floor" and unit.addend_bits else 0
    return round(ratio * 2**shift), addend


def _once(values: tuple[int, ...]) -> tuple[int, ...]:
    """One number for all channels where all are the same."""
    return values[:1] if len(set(values)) == 1 else values
