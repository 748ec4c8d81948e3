"""Knows how sums that are multiplied, added to and shifted are finished: one word for each channel, and what moves sums
before. Does not know layers, nor how sums in float are finished.

`(acc * m + a) >> s` is `((acc + q) * m + r) >> s` with `a = q * m + r`: q goes into the bias, and m and r, of 16 bits
each, into one word. That holds modulo 2**32, as a register of 32 bits that wraps around has it, and in 64 bits. A zero
point is part of `a`, where nothing wraps around.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tilewright.api.graph import MultiplyShift, Requant
from tilewright.api.kernel import AccumulatorBounds

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]

_HALF_WORD = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class ShiftWords:
    """What finishes the sums of a layer."""

    moved: Integers  # one for each channel, added to its sums
    words: Integers  # m, and r above it
    shift: int


def shift_words(requant: Requant, bounds: AccumulatorBounds) -> ShiftWords | str | None:
    """The words of a layer with these sums, or why it has none; None where it rounds in another way."""
    rounding = requant.rounding
    if not isinstance(rounding, MultiplyShift):
        return None
    shift, channels = rounding.shift[0], len(bounds.lowest)
    if set(rounding.shift) != {shift} or not 0 <= shift <= 31 or rounding.rounding == "half-even":
        return "channels shift by different numbers, by more than 31, or with halves to even"
    half = (1 << (shift - 1)) if shift and rounding.rounding == "half-up" else 0
    multipliers, addends = (_each(numbers, channels) for numbers in (rounding.multiplier, rounding.addend))
    if min(multipliers) < 1 or max(multipliers) >= _HALF_WORD:
        return "multipliers are not between 1 and 65535"
    zero = requant.zero_point << shift  # added before the shift: the same, where nothing wraps around
    if zero and rounding.bits == 32 and _may_wrap(bounds, multipliers, [added + half for added in addends], zero):
        return "sums and their zero point may leave 32 bits"
    pairs = [divmod(added + half + zero, factor) for added, factor in zip(addends, multipliers, strict=True)]
    moved = [quotient for quotient, _ in pairs]
    if (reason := _out_of_register(rounding, bounds, moved)) is not None:
        return reason
    words = [factor | (rest << 16) for factor, (_, rest) in zip(multipliers, pairs, strict=True)]
    return ShiftWords(
        moved=np.array(moved, np.int64), words=np.array(words, np.int64).astype(np.int32).astype(np.int64), shift=shift
    )


def _each(numbers: tuple[int, ...], channels: int) -> tuple[int, ...]:
    return numbers * channels if len(numbers) == 1 else numbers


def _may_wrap(bounds: AccumulatorBounds, multipliers: tuple[int, ...], addends: list[int], zero: int) -> bool:
    """Whether products with their addends, or these with the zero point, leave 32 bits for some sum."""
    ends = zip(bounds.lowest, bounds.highest, multipliers, addends, strict=True)
    reached = [end * factor + added for low, high, factor, added in ends for end in (low, high)]
    return any(not -(2**31) <= value + more < 2**31 for value in reached for more in (0, zero))


def _out_of_register(rounding: MultiplyShift, bounds: AccumulatorBounds, moved: list[int]) -> str | None:
    """Why neither 32 bits that wrap around nor 64 that hold everything give what the rounding's own register does."""
    if rounding.bits == 32 and rounding.overflow == "wraps":
        return None
    if rounding.bits != 64:
        return f"a register of {rounding.bits} bits that {rounding.overflow}"
    ends = zip(bounds.lowest, bounds.highest, moved, strict=True)
    beyond = any(max(abs(low), abs(high)) + abs(quotient) >= 2**31 for low, high, quotient in ends)
    return "sums with their addends may leave 32 bits" if beyond else None
