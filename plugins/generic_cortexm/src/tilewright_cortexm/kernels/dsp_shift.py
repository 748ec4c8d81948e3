"""Knows the forms that the DSP extension has of a requantisation that multiplies, adds and shifts (`shifts`). Does not
know layers.

SMMLA adds the upper half of a product to a word, SSAT shifts that and clamps it. With d of the bits that are shifted
away in the lower half, `(sum * multiplier + addend) >> (d + S)` is `((addend >> d) + upper) >> S`, where d more zeros
end the addend, and the product is that of 2**(32 - d) times the multiplier. As many bits below as end the multiplier in
zeros mean nothing, because no product has them. Where the multiplier has room for all of the factor, and all
channels have one addend, a word for each is enough; else the sum takes a part of it, and channels their own addends.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright_cortexm.kernels.dsp_twice import TwiceForm
from tilewright_cortexm.kernels.shifts import ShiftNumbers

_BITS = 31  # of a register, beside the sign
_BEYOND = "a product with its addend needs more bits than a word and its upper half have"


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedShift:
    """As `DspForm` has it: of each channel a word, of all a shift and what is added."""

    shift: int  # of the upper half
    words: tuple[int, ...]
    above: int


def shared_shift(numbers: list[ShiftNumbers], zero_point: int) -> SharedShift | None:
    """The form of a layer whose channels differ in their multipliers only; None where they do not."""
    shift = min(number.shift - number.multiplier.bit_length() - 1 for number in numbers)
    upper = {_upper(number, number.shift - shift, zero_point) for number in numbers} if shift > 0 else set()
    above = upper.pop() if len(upper) == 1 else None
    if above is None or shift > _BITS or max(number.shift for number in numbers) - shift > 32:
        return None
    words = tuple(number.multiplier << (32 - number.shift + shift) for number in numbers)
    return SharedShift(shift=shift, words=words, above=above) if _fits(numbers, shift, zero_point) else None


def own_shifts(numbers: list[ShiftNumbers], zero_point: int) -> TwiceForm | str:
    """The form of any other layer, or why it has none."""
    shift = min(number.shift - _least_below(number) for number in numbers)
    if not 1 <= shift <= _BITS or max(number.shift for number in numbers) - shift > 32:
        return _BEYOND
    addends = [_upper(number, number.shift - shift, zero_point) for number in numbers]
    whole = [addend for addend in addends if addend is not None]
    if len(whole) < len(addends):
        return "an addend has bits that are lost in the lower half of a product"
    if not _fits(numbers, shift, zero_point):
        return _BEYOND
    amounts = [min(_BITS - number.reach.bit_length(), 32 - number.shift + shift) for number in numbers]
    multipliers = [
        number.multiplier << (32 - number.shift + shift - amount)
        for number, amount in zip(numbers, amounts, strict=True)
    ]
    return TwiceForm(
        shift=shift,
        multipliers=tuple(multipliers),
        addends=tuple(whole),
        amounts=tuple(amounts),
        rounding="multiply-shift",
    )


def _least_below(numbers: ShiftNumbers) -> int:
    """How many bits must be in the lower half, so that sums and multipliers have room for the others."""
    return max(0, numbers.multiplier.bit_length() + numbers.reach.bit_length() + 32 - 2 * _BITS)


def _upper(numbers: ShiftNumbers, below: int, zero_point: int) -> int | None:
    """What is added to the upper half; None where that is no whole number."""
    addend = numbers.addend + (zero_point << numbers.shift)
    zeros = (numbers.multiplier & -numbers.multiplier).bit_length() - 1 if numbers.multiplier else numbers.shift
    addend -= addend % (1 << min(zeros, numbers.shift))
    return None if addend % (1 << below) else addend >> below


def _fits(numbers: list[ShiftNumbers], shift: int, zero_point: int) -> bool:
    """Whether the word that is shifted last holds every sum."""
    largest = (
        (number.reach * number.multiplier + abs(number.addend + (zero_point << number.shift))) >> (number.shift - shift)
        for number in numbers
    )
    return max(largest) + 1 < 1 << _BITS
