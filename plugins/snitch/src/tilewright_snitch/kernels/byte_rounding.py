"""Knows with which biases and scales of float32 a layer of bytes is requantised in the float unit, which computes
`rne((sum + bias) * scale)`. Does not know layers.

That is the formula `onnx` itself. What multiplies, adds and shifts, `(total * m + a) >> s`, has the scale `m / 2**s`
and a bias with a fraction, in the middle between the last total of one result and the first of the next: no total is a
half then. Floats round on the way, so that this is proved: neither side ever falls as the total rises, so that both are
equal where they are at the totals on either side of each step. Neighbours of both numbers are tried, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import gcd
from typing import TYPE_CHECKING

import numpy as np

from tilewright.api.graph import Float32HalfEven, MultiplyShift

if TYPE_CHECKING:
    import numpy.typing as npt

    from tilewright.api.graph import Requant
    from tilewright.api.kernel import AccumulatorBounds

    Floats = npt.NDArray[np.float32]
    Integers = npt.NDArray[np.int64]
    Flags = npt.NDArray[np.bool_]

ROUNDINGS = ("onnx", "multiply-shift")
_ULPS = (0, 1, -1)


def float_parameters(requant: Requant, bias: Integers, bounds: AccumulatorBounds) -> Floats | str:
    """Biases and scales of all outputs, [2, outputs], or why there are none. `bounds`: of sums with their biases."""
    if isinstance(requant.rounding, Float32HalfEven):
        exact = bias.astype(np.float32)
        if not np.array_equal(exact.astype(np.int64), bias):
            return "a bias, with the zero point of x in it, is no float32"
        return np.stack([exact, np.asarray(requant.scales(len(bias)), np.float32)])
    steps = _steps(requant, bounds)
    return steps if isinstance(steps, str) else _proved(steps, bias)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Steps:
    """Of each channel: the real bias and scale, and where results begin, [channels, results]."""

    offset: npt.NDArray[np.float64]  # added to the bias
    scale: npt.NDArray[np.float64]
    results: Integers  # without their zero point, but for the lowest
    first: Integers  # the least total that has each result, or more
    lowest: Integers  # totals
    highest: Integers


def _steps(requant: Requant, bounds: AccumulatorBounds) -> _Steps | str:
    rounding, channels = requant.rounding, len(bounds.lowest)
    if not isinstance(rounding, MultiplyShift) or rounding.rounding == "half-even":
        return "is neither rounded by the formula of floats nor multiplied, added to and shifted"
    m, added, shift = (
        np.broadcast_to(np.array(terms, np.int64), channels)
        for terms in (rounding.multiplier, rounding.addend, rounding.shift)
    )
    if m.min() < 1 or m.max() >= 2**24 or np.abs(added).max() >= 2**40 or shift.max() > 40:
        return "multiplies, adds or shifts by more than floats can prove"
    lowest, highest = np.array(bounds.lowest, np.int64), np.array(bounds.highest, np.int64)
    half = np.where(shift > 0, np.left_shift(1, np.maximum(shift - 1, 0)), 0) * (rounding.rounding == "half-up")
    ends = np.maximum(np.abs(lowest), np.abs(highest)) * m + np.abs(added) + half
    if ends.max() >= 2 ** (min(rounding.bits, 62) - 1):
        return f"a product, or what is added to it, may leave its register of {rounding.bits} bits"
    results = np.arange(requant.low - requant.zero_point + 1, requant.high - requant.zero_point + 1)
    total = added + half
    grain = np.array([gcd(int(factor), 1 << int(bits)) for factor, bits in zip(m, shift, strict=True)])
    middle = total % grain - grain / 2
    return _Steps(
        offset=(total - middle - 2.0 ** (shift - 1.0)) / m,
        scale=m / 2.0**shift,
        results=results,
        first=-((total[:, None] - np.left_shift(results[None], shift[:, None])) // m[:, None]),
        lowest=lowest,
        highest=highest,
    )


def _proved(steps: _Steps, bias: Integers) -> Floats | str:
    result, open_channels = np.zeros((2, len(bias)), np.float32), np.ones(len(bias), bool)
    near = np.stack([bias + steps.offset, steps.scale]).astype(np.float32)
    for ulps in product(_ULPS, _ULPS):
        tried = np.stack([_moved(value, by) for value, by in zip(near, ulps, strict=True)])
        taken = open_channels & _equal(steps, bias, tried)
        result[:, taken] = tried[:, taken]
        open_channels &= ~taken
    return result if not open_channels.any() else "no bias and scale of float32 are equal on every sum"


def _moved(values: Floats, ulps: int) -> Floats:
    return values if not ulps else np.nextafter(values, np.float32(np.inf * ulps))


def _equal(steps: _Steps, bias: Integers, parameters: Floats) -> Flags:
    """Of each channel, whether every total that can occur has its result."""
    low, high = steps.lowest[:, None], steps.highest[:, None]

    def rounded(totals: Integers) -> Floats:
        sums = (np.clip(totals, low, high) - bias[:, None]).astype(np.float32)
        floats: Floats = np.rint((sums + parameters[0][:, None]) * parameters[1][:, None])
        return floats

    reached = (rounded(steps.first) >= steps.results) | (steps.first > high)
    before = (rounded(steps.first - 1) < steps.results) | (steps.first <= low)
    return np.asarray((reached & before).all(axis=1))
