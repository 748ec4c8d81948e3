"""Knows what Helium's kernels store of a requantisation for each channel, of either rounding. Does not know layers.

The formula of floats has a scale. A product that is rounded twice is VQRDMULH and VRSHL, which have a multiplier and a
shift to the left, of a negative number of bits. VRSHL takes halves up: where results below the zero point are told
apart, one is taken from negative products first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tilewright_cortexm.kernels.sources import c_fragment, limits_name
from tilewright_cortexm.kernels.twice import halves_matter, rounded_twice, twice_numbers

if TYPE_CHECKING:
    import numpy.typing as npt

    from tilewright.api.graph import Requant
    from tilewright.api.kernel import AccumulatorBounds, CodeFragments

    Words = npt.NDArray[np.int32]

TWICE = c_fragment("mve_twice.h")  # what code of the second rounding needs


@dataclass(frozen=True, slots=True, kw_only=True)
class MveForm:
    """How channels are requantised, and their words, one row for each kind."""

    requant: Requant
    words: Words  # [1 or 2, channels]

    @property
    def stored(self) -> int:
        """Words of a channel beside its bias."""
        return len(self.words)

    @property
    def twice(self) -> bool:
        """Whether a product is rounded twice."""
        return rounded_twice(self.requant)

    @property
    def away(self) -> bool:
        """Whether halves are taken away from zero."""
        return self.twice and halves_matter(self.requant)

    @property
    def label(self) -> str:
        """Part of a C name: code of equal labels is the same."""
        kind = "t2_" if self.away else "t1_" if self.twice else ""
        return f"{kind}{self.requant.low}_{self.requant.high}".replace("-", "m")

    def names(self) -> dict[str, object]:
        """What C templates are given."""
        kind = "TWICE_" if self.away else "ONCE_" if self.twice else ""
        return {
            "low": self.requant.low,
            "high": self.requant.high,
            "twice": self.twice,
            "away": self.away,
            "end": f"{kind}{limits_name(self.requant.low, self.requant.high)}",
        }

    def needs(self) -> CodeFragments:
        """What the code of all templates needs."""
        return (TWICE,) if self.twice else ()

    def described(self) -> dict[str, object]:
        """What reports say."""
        channels = self.words.shape[1]
        return {"channels": channels, **({"rounding": "tflm"} if self.twice else {"exact": channels})}


def mve_form(requant: Requant, bounds: AccumulatorBounds) -> MveForm | str:
    """The form of a layer, or why it has none."""
    if not rounded_twice(requant):
        scales = np.asarray(requant.scales(len(bounds.lowest)), np.float32)
        return MveForm(requant=requant, words=scales.view(np.int32)[None])
    numbers = twice_numbers(requant, bounds)
    if isinstance(numbers, str):
        return numbers
    words = np.asarray([(one.multiplier, -one.right) for one in numbers], np.int64).T
    return MveForm(requant=requant, words=words.astype(np.int32))


def taken_form(requant: Requant, bounds: AccumulatorBounds) -> MveForm:
    """The form of a layer that has one."""
    found = mve_form(requant, bounds)
    if isinstance(found, str):
        raise TypeError(found)
    return found
