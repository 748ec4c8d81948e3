"""Knows with which multiplier, addend and shift a unit gives the same as a layer's own requantisation, for every sum
that can occur. Does not know what a unit is part of, nor who asks.

With thresholds T[k], of results k without their zero point, a unit that computes (acc * M + A) >> S is equal where

    T[k] * M + A >= k * 2**S            for every k that some sum reaches, and
    (T[k] - 1) * M + A < k * 2**S       for every k that some sum does not reach.

What the unit itself adds to round is inside A, and so is a zero point that it does not add behind the shift. Its
registers are more such lines: nothing may overflow at either end of the sums. For one S every line bounds A from one
side, by a linear function of M. The room between the highest lower bound and the lowest upper one is concave in M, so
its largest value over whole numbers is found by halving; there is a whole A where that is not negative. Nothing is
searched, and where nothing is found there is nothing.

Only corners of the convex hull of the points (T[k], k) can be the highest lower bound, and likewise above: a few.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tilewright.arithmetic.bounds import AccumulatorBounds
from tilewright.arithmetic.shift_unit import ShiftUnit
from tilewright.arithmetic.thresholds import Thresholds, thresholds
from tilewright.ir.tensors.requant import Requant
from tilewright.ir.tensors.roundings import MultiplyShift

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]
    Flags = npt.NDArray[np.bool_]

_FINEST = 50  # k * 2**S stays below 2**60
_COARSER = 6  # a multiplier that is right at one shift is, doubled, at the next: few tell whether any is
_LARGEST = 2**60  # of products; a register that holds more is taken to hold this much
_FALLS = "its own result falls where a product wraps around, so that thresholds do not describe it"
_NARROW = "its registers hold no multiplier and addend that are equal on every sum"
_NOWHERE = "no multiplier and addend are equal on every sum"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitProof:
    """For each channel what was proved equal on a unit, or why nothing was: then its reason is not empty."""

    unit: ShiftUnit
    multipliers: tuple[int, ...]
    addends: tuple[int, ...]
    shifts: tuple[int, ...]  # all the same, unless the unit has one for each channel
    reasons: tuple[str, ...]

    @property
    def proved(self) -> tuple[bool, ...]:
        """Which channels have a form."""
        return tuple(not reason for reason in self.reasons)

    @property
    def whole(self) -> bool:
        """Whether all have."""
        return all(self.proved)

    @property
    def rounding(self) -> MultiplyShift:
        """The form as a rounding; channels without one compute nothing that means anything."""
        return MultiplyShift(
            multiplier=self.multipliers,
            addend=self.addends,
            shift=self.shifts,
            rounding=self.unit.rounding,
            bits=self.unit.bits,
            overflow=self.unit.overflow,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lines:
    """Bounds of A, [C, H] each: `A >= at_least - low_slope * M` and `A <= at_most - high_slope * M`."""

    low_slope: Integers
    at_least: Integers
    high_slope: Integers
    at_most: Integers

    def room(self, multiplier: Integers) -> tuple[Integers, Integers]:
        """The highest lower bound and the lowest upper bound of A, for a multiplier of each channel."""
        least: Integers = (self.at_least - self.low_slope * multiplier[:, None]).max(axis=1)
        most: Integers = (self.at_most - self.high_slope * multiplier[:, None]).min(axis=1)
        return least, most


@dataclass(frozen=True, slots=True, kw_only=True)
class _Corners:
    """The points of thresholds that can bound, padded to one length: sums and steps of lower and of upper bounds."""

    low: tuple[Integers, Integers]
    high: tuple[Integers, Integers]


def prove_unit(requant: Requant, bounds: AccumulatorBounds, unit: ShiftUnit) -> UnitProof:
    """What `unit` can compute of a layer. `bounds` has one entry per channel."""
    import numpy as np

    lowest, highest = np.asarray(bounds.lowest, np.int64), np.asarray(bounds.highest, np.int64)
    known = thresholds(requant, lowest, highest)
    corners = _corners(known, lowest, highest, unit)
    shifts = [shift for shift in unit.shifts if shift <= _FINEST]
    result = [_at_shift(corners, lowest, highest, requant.zero_point, unit, shift) for shift in shifts]
    feasible = np.array([ok for ok, _, _ in result]) & known.sound
    if unit.shift_per_channel:
        chosen = len(shifts) - 1 - feasible[::-1].argmax(axis=0)
    else:
        counts = feasible.sum(axis=1)
        chosen = np.full(len(lowest), len(shifts) - 1 - int(counts[::-1].argmax()))
    proved = feasible[chosen, np.arange(len(lowest))]
    return UnitProof(
        unit=unit,
        multipliers=tuple(int(result[at][1][c]) for c, at in enumerate(chosen)),
        addends=tuple(int(result[at][2][c]) for c, at in enumerate(chosen)),
        shifts=tuple(shifts[at] for at in chosen),
        reasons=_reasons(proved, known, corners, lowest, highest, unit),
    )


def _reasons(
    feasible: Flags, known: Thresholds, corners: _Corners, lowest: Integers, highest: Integers, unit: ShiftUnit
) -> tuple[str, ...]:
    """Why channels have no form on a unit: they have none on a wide one either, or its registers are too small."""
    import numpy as np

    wide = replace(unit, multiplier_bits=40, addend_bits=62, bits=62, largest_shift=_FINEST, zero_point_behind=True)
    somewhere = np.zeros(len(lowest), np.bool_)
    for shift in range(0 if feasible.all() else _FINEST, 0, -_COARSER):
        somewhere |= _at_shift(corners, lowest, highest, 0, wide, shift)[0]
    return tuple(
        "" if ok else _FALLS if not sound else _NARROW if elsewhere else _NOWHERE
        for ok, sound, elsewhere in zip(feasible, known.sound, somewhere, strict=True)
    )


def _at_shift(
    corners: _Corners, lowest: Integers, highest: Integers, zero_point: int, unit: ShiftUnit, shift: int
) -> tuple[Flags, Integers, Integers]:
    """Which channels have a multiplier and an addend at this shift, and these."""
    import numpy as np

    lines = _lines(corners, lowest, highest, zero_point, unit, shift)
    reach = np.maximum(np.maximum(np.abs(lowest), np.abs(highest)), 1)
    register = min(2 ** (unit.bits - 1) - 1, _LARGEST)
    largest = np.minimum(2**unit.multiplier_bits - 1, register // reach)
    low, high = np.zeros_like(largest), largest.copy()
    while (open_ := low < high).any():  # the first multiplier after which the room does not grow
        middle = (low + high) >> 1
        grows = _room(lines, np.minimum(middle + 1, largest)) > _room(lines, middle)
        low, high = np.where(open_ & grows, middle + 1, low), np.where(open_ & ~grows, middle, high)
    least, most = lines.room(low)
    return least <= most, low, least + (most - least) // 2


def _room(lines: _Lines, multiplier: Integers) -> Integers:
    least, most = lines.room(multiplier)
    return most - least


def _lines(
    corners: _Corners, lowest: Integers, highest: Integers, zero_point: int, unit: ShiftUnit, shift: int
) -> _Lines:
    """Every bound of the addend as the unit is given it: of thresholds, of its registers, and of its own width."""
    import numpy as np

    half = 0 if unit.rounding == "floor" else 1 << shift >> 1
    inside = 0 if unit.zero_point_behind else zero_point << shift  # what the addend has beside the rounding
    register = min(2 ** (unit.bits - 1), _LARGEST)
    own = 2 ** (unit.addend_bits - 1) if unit.addend_bits else 0
    column = np.ones((len(lowest), 1), np.int64)

    def goals(steps: Integers) -> Integers:
        """What a product and addend must reach for a step: the half that the unit adds is not the addend's."""
        odd = (steps & 1) if unit.rounding == "half-even" and shift else 0
        return (steps << shift) - half + odd + inside

    (low_sums, low_steps), (high_sums, high_steps) = corners.low, corners.high
    return _Lines(
        low_slope=np.concatenate([low_sums, lowest[:, None], 0 * column], axis=1),
        at_least=np.concatenate([goals(low_steps), -register * column, -own * column], axis=1),
        high_slope=np.concatenate([high_sums, highest[:, None], 0 * column], axis=1),
        at_most=np.concatenate(
            [goals(high_steps) - 1, (register - 1 - half) * column, max(own - 1, 0) * column], axis=1
        ),
    )


def _corners(known: Thresholds, lowest: Integers, highest: Integers, unit: ShiftUnit) -> _Corners:
    """Of each channel the points that can bound; all of them for a unit whose halves depend on a result's last bit."""
    lower, upper = [], []
    for channel, sums in enumerate(known.sums):
        points = list(zip(sums.tolist(), known.steps.tolist(), strict=True))
        reached = [(at, k) for at, k in points if at <= highest[channel]]
        missed = [(at - 1, k) for at, k in points if at - 1 >= lowest[channel]]
        hull = unit.rounding != "half-even"
        lower.append(_hull(reached, 1) if hull else reached)
        upper.append(_hull(missed, -1) if hull else missed)
    return _Corners(low=_padded(lower, -(2**10)), high=_padded(upper, 2**10))


def _hull(points: Sequence[tuple[int, int]], side: int) -> list[tuple[int, int]]:
    """The corners of the convex hull above (1) or below (-1) of points whose sums and steps never fall."""
    kept: list[tuple[int, int]] = []
    for point in points:
        if kept and kept[-1][0] == point[0]:
            if side < 0:
                continue  # the first step at one sum is the lowest
            kept.pop()
        while len(kept) > 1 and side * _turn(kept[-2], kept[-1], point) >= 0:
            kept.pop()
        kept.append(point)
    return kept


def _turn(first: tuple[int, int], second: tuple[int, int], third: tuple[int, int]) -> int:
    """Positive where the way from the first over the second to the third turns to the left."""
    return (second[0] - first[0]) * (third[1] - first[1]) - (second[1] - first[1]) * (third[0] - first[0])


def _padded(points: Sequence[Sequence[tuple[int, int]]], none: int) -> tuple[Integers, Integers]:
    """Sums and steps as [C, H]; what is missing bounds nothing: a step that is always, or never, reached."""
    import numpy as np

    width = max(1, *(len(each) for each in points)) if points else 1
    sums, steps = np.zeros((len(points), width), np.int64), np.full((len(points), width), none, np.int64)
    for row, each in enumerate(points):
        for at, (total, step) in enumerate(each):
            sums[row, at], steps[row, at] = total, step
    return sums, steps
