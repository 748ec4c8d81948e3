"""Knows what Helium's kernels store of a requantisation for each channel, of any rounding. Does not know layers.

The formula of floats has a scale. A product that is rounded twice is VQRDMULH and VRSHL, which have a multiplier and a
shift to the left, of a negative number of bits. VRSHL takes halves up: where results below the zero point are told
apart, one is taken from negative products first. What multiplies, adds and shifts is VMUL, VADD and VSHL, in 32 bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tilewright_cortexm.kernels.shifts import ShiftNumbers, multiplies_and_shifts, shift_numbers
from tilewright_cortexm.kernels.sources import c_fragment, limits_name
from tilewright_cortexm.kernels.twice import halves_matter, rounded_twice, twice_numbers

if TYPE_CHECKING:
    import numpy.typing as npt

    from tilewright.api.graph import Requant
    from tilewright.api.kernel import AccumulatorBounds, CodeFragments

    Words = npt.NDArray[np.int32]

_NEEDED = {"twice": c_fragment("mve_twice.h"), "shift": c_fragment("mve_shift.h")}  # by code of other roundings


@dataclass(frozen=True, slots=True, kw_only=True)
class MveForm:
    """How channels are requantised, and their words, one row for each kind."""

    requant: Requant
    words: Words  # [1 to 3, channels]

    @property
    def stored(self) -> int:
        """Words of a channel beside its bias."""
        return len(self.words)

    @property
    def kind(self) -> str:
        """`float`, the formula; `twice`, a product that is rounded twice; `shift`, one that is added to and shifted."""
        return "twice" if rounded_twice(self.requant) else "shift" if multiplies_and_shifts(self.requant) else "float"

    @property
    def suffix(self) -> str:
        """Of the names of C functions that compute what blocks do."""
        return "" if self.kind == "float" else f"_{self.kind}"

    @property
    def away(self) -> bool:
        """Whether halves are taken away from zero."""
        return self.kind == "twice" and halves_matter(self.requant)

    @property
    def label(self) -> str:
        """Part of a C name: code of equal labels is the same."""
        kind = {"twice": "t2_" if self.away else "t1_", "shift": "s_", "float": ""}[self.kind]
        return f"{kind}{self.requant.low}_{self.requant.high}".replace("-", "m")

    def names(self) -> dict[str, object]:
        """What C templates are given."""
        kind = {"twice": "TWICE_" if self.away else "ONCE_", "shift": "SHIFT_", "float": ""}[self.kind]
        return {
            "low": self.requant.low,
            "high": self.requant.high,
            "kind": self.kind,
            "suffix": self.suffix,
            "stored": self.stored,
            "away": self.away,
            "end": f"{kind}{limits_name(self.requant.low, self.requant.high)}",
        }

    def needs(self) -> CodeFragments:
        """What the code of all templates needs."""
        return (_NEEDED[self.kind],) if self.kind in _NEEDED else ()

    def described(self) -> dict[str, object]:
        """What reports say."""
        channels = self.words.shape[1]
        return {"channels": channels, **({"exact": channels} if self.kind == "float" else {"rounding": self.rounding})}

    @property
    def rounding(self) -> str:
        """What reports call the rounding."""
        return self.requant.rounding.name


def mve_form(requant: Requant, bounds: AccumulatorBounds) -> MveForm | str:
    """The form of a layer, or why it has none."""
    if multiplies_and_shifts(requant):
        return _shift_form(requant, bounds)
    if not rounded_twice(requant):
        scales = np.asarray(requant.scales(len(bounds.lowest)), np.float32)
        return MveForm(requant=requant, words=scales.view(np.int32)[None])
    numbers = twice_numbers(requant, bounds)
    if isinstance(numbers, str):
        return numbers
    words = np.asarray([(number.multiplier, -number.right) for number in numbers], np.int64).T
    return MveForm(requant=requant, words=words.astype(np.int32))


def _shift_form(requant: Requant, bounds: AccumulatorBounds) -> MveForm | str:
    numbers = shift_numbers(requant, bounds)
    if isinstance(numbers, str):
        return numbers
    if any(_reach(number) >= 2**31 for number in numbers) or max(number.shift for number in numbers) > 31:
        return "a product with its addend needs more than 32 bits"
    words = np.asarray([(number.multiplier, number.addend, -number.shift) for number in numbers], np.int64).T
    return MveForm(requant=requant, words=words.astype(np.int32))


def _reach(numbers: ShiftNumbers) -> int:
    return numbers.reach * numbers.multiplier + abs(numbers.addend)


def taken_form(requant: Requant, bounds: AccumulatorBounds) -> MveForm:
    """The form of a layer that has one."""
    result = mve_form(requant, bounds)
    if isinstance(result, str):
        raise TypeError(result)
    return result
