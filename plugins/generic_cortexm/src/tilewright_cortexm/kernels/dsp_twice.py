"""Knows the forms that the DSP extension has of a requantisation that is rounded twice (`twice`).
Does not know layers.

Where nothing below the zero point is told apart, both roundings are one sum before one shift,
`(sum * multiplier + 2**30 + 2**(30 + right)) >> (31 + right)`. With the sum shifted to the left by as much as takes all
channels to one shift, 32 + S, every addend is whole in the upper half: SMMLA and SSAT, as where a multiplier is proved.
Else it is what it says: SMMULR of twice the sum, one less where that is negative, a half, and a shift by a register.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tilewright.api.graph import Requant, requantise
from tilewright_cortexm.kernels.sources import c_fragment, limits_name
from tilewright_cortexm.kernels.twice import TwiceNumbers, halves_matter, twice_numbers

if TYPE_CHECKING:
    import numpy.typing as npt

    from tilewright.api.kernel import AccumulatorBounds

    Flags = npt.NDArray[np.bool_]
    Integers = npt.NDArray[np.int64]

TWICE = c_fragment("dsp_twice.h")  # what code of these forms needs
_REGISTER = 2**31
_HALF = 2**30  # of a product's upper half, and of what is added to it: their sum fits a register


@dataclass(frozen=True, slots=True, kw_only=True)
class TwiceForm:
    """Of each channel a multiplier, what is added to the upper half of the product, and a number of bits: by which the
    sum is moved to the left before, or, where `shift` is 0, the rest to the right behind.
    """

    shift: int  # of the upper half, shared by the layer; 0 where halves are taken away from zero
    multipliers: tuple[int, ...]
    addends: tuple[int, ...]
    amounts: tuple[int, ...]
    rounding: str = "tflm"
    above = 0  # every channel has its own
    stored = 3  # words of a channel beside its bias

    @property
    def exact(self) -> Flags:
        """Which channels use a formula of floats: none."""
        return np.zeros(len(self.multipliers), np.bool_)

    @property
    def more(self) -> float:
        """Instructions of a result beyond those of a proved multiplier."""
        return 1.0 if self.shift else 4.0

    def of_block(self, channels: range) -> list[int]:
        """The words of channels that are computed together: multipliers and addends in turn, then the amounts."""
        turns = [word for c in channels for word in (self.multipliers[c], self.addends[c])]
        return turns + [self.amounts[c] for c in channels]

    def only(self, zero_point: int) -> tuple[int, int, int]:
        """What `requantise` is given beside a sum, where there is one channel."""
        return self.multipliers[0], self.addends[0], self.amounts[0]

    def results(self, accumulators: Integers, requant: Requant) -> Integers:
        """What one accumulator of each channel becomes. Channels of one result have it whatever that is."""
        only = np.asarray(self.addends) >> (self.shift or np.asarray(self.amounts))
        limited = np.clip(only, requant.low, requant.high)
        return np.where(np.asarray(self.multipliers) == 0, limited, requantise(accumulators, requant, 0))

    def names(self, requant: Requant) -> dict[str, object]:
        """What C templates are given, as `DspForm.names`."""
        return {
            "fixed": False,
            "exact": False,
            "twice": True,
            "shift": self.shift,
            "low": requant.low,
            "high": requant.high,
            "end": f"{'ONCE' if self.shift else 'TWICE'}_{limits_name(requant.low, requant.high)}",
            "requantise": f"tw_dsp_requantise_{self.label(requant)}",
        }

    def label(self, requant: Requant) -> str:
        """Part of a C name: code of equal labels is the same."""
        return f"t{self.shift}_{requant.low}_{requant.high}".replace("-", "m")

    def described(self) -> dict[str, object]:
        """What reports say."""
        return {"channels": len(self.multipliers), "rounding": self.rounding}


def twice_form(requant: Requant, bounds: AccumulatorBounds) -> TwiceForm | str:
    """The form of a layer that is rounded twice, or why it has none."""
    numbers = twice_numbers(requant, bounds)
    if isinstance(numbers, str):
        return numbers
    once = None if halves_matter(requant) else _once(numbers, requant.zero_point)
    return once or _twice(numbers, requant.zero_point)


def _once(numbers: list[TwiceNumbers], zero_point: int) -> TwiceForm | None:
    shift = 1 + max((number.right for number in numbers if number.result is None), default=0)
    result = []
    for number in numbers:
        if number.result is not None:
            result.append((0, number.result << shift, 0))
            continue
        amount = 1 + shift - number.right
        first = 1 << (shift - number.right - 1)  # what rounds before the shift by 31
        half = 1 << (shift - 1) if number.right else 0
        if number.reach << amount >= _REGISTER:
            return None
        result.append((number.multiplier, (zero_point << shift) + first + half, amount))
    return _form(shift, result) if all(abs(addend) < _HALF for _, addend, _ in result) else None


def _twice(numbers: list[TwiceNumbers], zero_point: int) -> TwiceForm | str:
    result = []
    for number in numbers:
        if number.result is not None:
            result.append((0, number.result << 1, 1))
            continue
        if number.reach >= _HALF:
            return f"sums are as large as {number.reach}; this kernel doubles them in 32 bits"
        if not number.right:
            return "a channel is scaled by a half or more, and rounded once"
        result.append((number.multiplier, (zero_point << number.right) + (1 << number.right >> 1), number.right))
    if any(abs(addend) >= _HALF for _, addend, _ in result):
        return "a zero point does not fit 32 bits above its channel's shift"
    return _form(0, result)


def _form(shift: int, result: list[tuple[int, int, int]]) -> TwiceForm:
    multipliers, addends, amounts = zip(*result, strict=True)
    return TwiceForm(shift=shift, multipliers=multipliers, addends=addends, amounts=amounts)
