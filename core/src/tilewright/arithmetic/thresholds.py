"""Knows the thresholds of any requantisation that never falls as its sum rises: the smallest sum that reaches a result.
Does not know what is proved with them.

Two such functions with the same thresholds are equal. Those of the formula `onnx` are verified by `proof`; others are
found by bisection, which is exact where a function never falls. Where a product wraps around it does: such a channel
is not sound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tilewright.arithmetic.proof import exact_thresholds
from tilewright.ir.tensors.requant import Requant
from tilewright.ir.tensors.roundings import DoubleRounding, Float32HalfEven, MultiplyShift

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]
    Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Results without their zero point, and for each channel and result the smallest sum that reaches it."""

    steps: Integers  # [K], above the lowest result
    sums: Integers  # [C, K], from the channel's lowest sum; its highest + 1 where a result is not reached
    sound: Flags  # [C]; False where the function may fall


def thresholds(requant: Requant, lowest: Integers, highest: Integers) -> Thresholds:
    """Of sums from `lowest` to `highest`, one of each for every channel, both included."""
    import numpy as np

    scales = np.asarray(requant.scales(len(lowest)))
    if isinstance(requant.rounding, Float32HalfEven):
        steps, sums, sound = exact_thresholds(requant, scales.astype(np.float32), lowest, highest)
        return Thresholds(steps=steps, sums=sums, sound=sound)
    steps = np.arange(requant.low - requant.zero_point + 1, requant.high - requant.zero_point + 1, dtype=np.int64)
    whole = requant if len(requant.scale) > 1 else requant.of_channels((0,))
    sums = _bisected(whole, scales, steps, lowest, highest)
    return Thresholds(steps=steps, sums=np.maximum(sums, lowest[:, None]), sound=_never_falls(requant, lowest, highest))


def _bisected(
    requant: Requant, scales: npt.NDArray[np.float64], steps: Integers, lowest: Integers, highest: Integers
) -> Integers:
    import numpy as np

    column = scales[:, None] if len(requant.scale) > 1 else np.asarray(requant.scale)[:, None]

    def reached(sums: Integers) -> Flags:
        flags: Flags = requant.rounding.rounded(sums, column) >= steps
        return flags

    floor, ceiling = (np.broadcast_to(end[:, None], (len(lowest), len(steps))) for end in (lowest - 1, highest + 1))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        guess = np.nan_to_num(np.clip((steps - 0.5) / scales[:, None], floor, ceiling))
    room = np.abs(guess) * 2.0**-12 + 4.0 / np.maximum(scales[:, None], 2.0**-24)
    below = np.maximum(np.clip(guess - room, floor, ceiling).astype(np.int64), floor)
    above = np.minimum(np.clip(guess + room, floor, ceiling).astype(np.int64) + 1, ceiling)
    below = np.where((below > floor) & reached(np.maximum(below, floor + 1)), floor, below)
    above = np.where((above < ceiling) & ~reached(above), ceiling, above)
    while (open_ := above - below > 1).any():
        middle = (below + above) >> 1
        at = reached(middle)
        above, below = np.where(open_ & at, middle, above), np.where(open_ & ~at, middle, below)
    return above


def _never_falls(requant: Requant, lowest: Integers, highest: Integers) -> Flags:
    """Whether no shift and no product wraps around on any sum of a channel."""
    import numpy as np

    rounding, channels = requant.rounding, range(len(lowest))
    if isinstance(rounding, DoubleRounding):
        exponents = [rounding.numbers(scale)[1] for scale in requant.scales(len(lowest))]
        reach = [max(-int(lowest[c]), int(highest[c]) + 1) << max(exponents[c], 0) for c in channels]
        return np.array([each <= 2**31 for each in reach])
    if not isinstance(rounding, MultiplyShift) or rounding.overflow == "saturates":
        return np.ones(len(lowest), np.bool_)
    return np.array([_fits(rounding, c, int(lowest[c]), int(highest[c])) for c in channels])


def _fits(rounding: MultiplyShift, channel: int, lowest: int, highest: int) -> bool:
    multiplier, addend, shift = (
        values[0 if len(values) == 1 else channel] for values in (rounding.multiplier, rounding.addend, rounding.shift)
    )
    products = (lowest * multiplier, highest * multiplier)
    ends = (*products, *(product + addend for product in products), max(products) + addend + (1 << shift >> 1))
    return multiplier >= 0 and -(2 ** (rounding.bits - 1)) <= min(ends) and max(ends) < 2 ** (rounding.bits - 1)
