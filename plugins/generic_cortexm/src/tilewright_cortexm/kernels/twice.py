"""Knows the numbers of a requantisation that is rounded twice (`tflm`), for kernels: a multiplier and a shift to the
right for each channel. Does not know instructions.

With these a sum becomes `high = (sum * multiplier + 2**30) >> 31`, then `high / 2**right` to the nearest, halves away
from zero. Channels without weights may have sums of any size, and only one result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tilewright.api.graph import DoubleRounding, requantise
from tilewright.api.kernel import sum_requant

if TYPE_CHECKING:
    from tilewright.api.graph import Requant, Site
    from tilewright.api.kernel import AccumulatorBounds, RequantForm

ROUNDINGS = ("onnx", "tflm", "multiply-shift")
_LEFT = "a channel is scaled by more than 1; this kernel shifts to the right only"


@dataclass(frozen=True, slots=True, kw_only=True)
class TwiceNumbers:
    """Of one channel."""

    multiplier: int
    right: int
    reach: int  # how large its sums are, at most
    result: int | None  # the only one, where there are no others


def formula_form(site: Site) -> RequantForm | None:
    """The form of `onnx` that kernels for cores have; None for a layer of another rounding."""
    return sum_requant(site) if site.node.rounding == "onnx" else None


def rounded_twice(requant: Requant) -> bool:
    """Whether the rounding is `tflm`."""
    return isinstance(requant.rounding, DoubleRounding)


def halves_matter(requant: Requant) -> bool:
    """Whether results below the zero point are told apart: without these, halves away from zero are halves up."""
    return requant.low < requant.zero_point


def reaches(bounds: AccumulatorBounds) -> list[int]:
    """How large the sums of each channel are, at most."""
    return [max(abs(low), abs(high)) for low, high in zip(bounds.lowest, bounds.highest, strict=True)]


def twice_numbers(requant: Requant, bounds: AccumulatorBounds) -> list[TwiceNumbers] | str:
    """The numbers of every channel, or why there are none."""
    rounding = requant.rounding
    if not isinstance(rounding, DoubleRounding):
        return "is not rounded twice"
    pairs = [rounding.numbers(scale) for scale in requant.scales(len(bounds.lowest))]
    if any(exponent > 0 for _, exponent in pairs):
        return _LEFT
    least, most = (requantise(np.asarray(end, np.int64), requant, 0) for end in (bounds.lowest, bounds.highest))
    return [
        TwiceNumbers(multiplier=multiplier, right=-exponent, reach=reach, result=low if low == high else None)
        for (multiplier, exponent), reach, low, high in zip(
            pairs, reaches(bounds), least.tolist(), most.tolist(), strict=True
        )
    ]
