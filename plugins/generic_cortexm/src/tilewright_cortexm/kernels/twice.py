"""Knows the numbers of a requantisation that is rounded twice (`tflm`), for kernels: a multiplier and a shift to the
right for each channel. Does not know instructions.

With these a sum becomes `high = (sum * multiplier + 2**30) >> 31`, then `high / 2**right` to the nearest, halves away
from zero. A channel whose results are all zero has the multiplier 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.api.graph import DoubleRounding
from tilewright.api.kernel import sum_requant

if TYPE_CHECKING:
    from tilewright.api.graph import Requant, Site
    from tilewright.api.kernel import AccumulatorBounds, RequantForm

ROUNDINGS = ("onnx", "tflm")
_LEFT = "a channel is scaled by more than 1; this kernel shifts to the right only"


def formula_form(site: Site) -> RequantForm | None:
    """The form of `onnx` that kernels for cores have; None for a layer that is rounded twice."""
    return None if rounded_twice(site.node.requant()) else sum_requant(site)


def rounded_twice(requant: Requant) -> bool:
    """Whether the rounding is `tflm`."""
    return isinstance(requant.rounding, DoubleRounding)


def halves_matter(requant: Requant) -> bool:
    """Whether results below the zero point are told apart: without these, halves away from zero are halves up."""
    return requant.low < requant.zero_point


def reaches(bounds: AccumulatorBounds) -> list[int]:
    """How large the sums of each channel are, at most."""
    return [max(abs(low), abs(high)) for low, high in zip(bounds.lowest, bounds.highest, strict=True)]


def twice_numbers(requant: Requant, bounds: AccumulatorBounds) -> list[tuple[int, int]] | str:
    """`multiplier` and `right` of every channel, or why there are none."""
    rounding, reach = requant.rounding, reaches(bounds)
    if not isinstance(rounding, DoubleRounding):
        return "is not rounded twice"
    found = [rounding.numbers(scale) for scale in requant.scales(len(reach))]
    if any(exponent > 0 for _, exponent in found):
        return _LEFT
    dead = [
        not number or (right < 0 and size < 1 << -right >> 1)
        for (number, right), size in zip(found, reach, strict=True)
    ]
    return [(0, 1) if none else (number, -right) for (number, right), none in zip(found, dead, strict=True)]
