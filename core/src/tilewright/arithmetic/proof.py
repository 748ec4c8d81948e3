"""Knows when a multiply-add-shift gives the same result as the exact requantisation, on every reachable accumulator.
Does not know how either is written in C; `requant_form` stores what was found.

The exact function q(acc) = clamp(rne(f32(f32(acc) * s)) + zp) never falls as acc rises (each of its roundings
is monotone), so it is described by its thresholds: T[k] is the smallest accumulator whose rounded product
reaches k. The same holds for (acc * M + 2**(S-1)) >> S, which reaches k where acc * M >= (2k-1) * 2**(S-1).
Both are equal on [lowest, highest] exactly if, for every k between the clamps,

    T[k] * M >= (2k-1) * 2**(S-1)        where T[k] <= highest, and
    (T[k] - 1) * M < (2k-1) * 2**(S-1)   where T[k] > lowest.

For fixed S each line bounds M from one side: what is left is an interval of multipliers, found by division and
without a search. Halving S halves the interval's ends (rounded inwards), so one S gives all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tilewright.ir.rounding import ceil_div
from tilewright.ir.tensors.requant import Requant

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]
    Flags = npt.NDArray[np.bool_]

_SHARED = 36  # proves as many channels of most layers as any other shift; layers of one shift share their code
_FINEST = 52  # |2k-1| < 1024, so that (2k-1) * 2**(S-1) stays in int64
_LARGEST_MULTIPLIER = 2**31 - 1
_LARGEST_PRODUCT = 2**62


@dataclass(frozen=True, slots=True, kw_only=True)
class MultiplierProof:
    """One shift for the layer, and for each channel the multiplier that was proved equal, or None."""

    shift: int
    multipliers: tuple[int | None, ...]


def prove(requant: Requant, lowest: Sequence[int], highest: Sequence[int]) -> MultiplierProof:
    """Find the shift that proves most channels: `_SHARED` where it does, else the finest that does. `lowest` and
    `highest` bound the accumulator, one per channel."""
    import numpy as np

    least, most = np.asarray(lowest, np.int64), np.asarray(highest, np.int64)
    scale = np.asarray(requant.scales(len(least)), np.float32)
    steps, thresholds, sound = exact_thresholds(requant, scale, least, most)
    smallest, largest = _multipliers(steps, thresholds, least, most)
    magnitude = np.maximum(np.maximum(np.abs(least), np.abs(most)), 1)
    limit = np.minimum(_LARGEST_MULTIPLIER, _LARGEST_PRODUCT // magnitude)
    drops = np.arange(_FINEST, dtype=np.int64)[:, None]  # finest shift first
    low, high = -(-smallest >> drops), np.minimum(largest >> drops, limit)
    provable = sound & (low <= high)
    channels = provable.sum(axis=1)
    shared = _FINEST - _SHARED
    drop = shared if channels[shared] == channels.max() > 0 else int(channels.argmax())
    shift, proved = _FINEST - drop, provable[drop]
    wanted = np.rint(scale.astype(np.float64) * 2.0**shift)
    chosen = np.minimum(np.maximum(wanted, low[drop]), high[drop])  # below 2**31: exact in float64
    multipliers = tuple(int(m) if ok else None for m, ok in zip(chosen, proved, strict=True))
    return MultiplierProof(shift=shift, multipliers=multipliers)


def exact_thresholds(
    requant: Requant, scale: npt.NDArray[np.float32], lowest: Integers, highest: Integers
) -> tuple[Integers, Integers, Flags]:
    """Steps k [K], thresholds [C, K] clipped to [lowest, highest + 1], and which channels could be verified [C].

    `highest + 1` means that k is not reached. A threshold is verified by evaluating the exact formula at
    it and just below it; since the formula is monotone, that is a proof.
    """
    import numpy as np

    k = np.arange(requant.low - requant.zero_point + 1, requant.high - requant.zero_point + 1, dtype=np.int64)
    floor, ceiling = lowest[:, None] - 1, highest[:, None] + 1
    column = scale[:, None]
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        guess = (k - 0.5) / column.astype(np.float64)
    guess = np.nan_to_num(np.clip(guess, floor.astype(np.float64), ceiling.astype(np.float64)))
    # Rounding the accumulator and the product moves a threshold by less than 2**-22 of itself. Most of them are then
    # known: between two integers, and what is added counts where the guess is one.
    reach = np.abs(guess) * 2.0**-22 + 2.0**-12
    below = np.maximum(np.floor(guess - reach).astype(np.int64), floor)
    above = np.minimum(np.ceil(guess + reach).astype(np.int64), ceiling)
    while (open_ := above - below > 1).any():
        middle = (below + above) >> 1
        reached = _rounded(middle, column) >= k
        above = np.where(open_ & reached, middle, above)
        below = np.where(open_ & ~reached, middle, below)
    holds = (above == ceiling) | (_rounded(above, column) >= k)
    holds &= (below == floor) | (_rounded(below, column) < k)
    sound = (holds & (above - below == 1)).all(axis=1)
    return k, np.minimum(np.maximum(above, lowest[:, None]), ceiling), sound


def _rounded(accumulator: Integers, scale: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    import numpy as np

    with np.errstate(over="ignore"):
        rounded: npt.NDArray[np.float32] = np.rint(accumulator.astype(np.float32) * scale)
    return rounded


def _multipliers(
    steps: Integers, thresholds: Integers, lowest: Integers, highest: Integers
) -> tuple[Integers, Integers]:
    """The smallest and largest multiplier for the shift `_FINEST` that satisfy every inequality, per channel."""
    import numpy as np

    goal = (2 * steps - 1) << (_FINEST - 1)
    smallest = np.zeros(lowest.shape, np.int64)
    largest = np.full(lowest.shape, 2**62, np.int64)
    at, before = thresholds, thresholds - 1
    needed, barred = at <= highest[:, None], before >= lowest[:, None]
    # at * M >= goal; where at is 0 it says rne(0) >= k, which the shift grants too
    smallest = _at_least(smallest, ceil_div(goal, np.where(at > 0, at, 1)), needed & (at > 0))
    largest = _at_most(largest, goal // np.where(at < 0, at, -1), needed & (at < 0))
    # before * M < goal
    largest = _at_most(largest, ceil_div(goal, np.where(before > 0, before, 1)) - 1, barred & (before > 0))
    smallest = _at_least(smallest, goal // np.where(before < 0, before, -1) + 1, barred & (before < 0))
    return smallest, largest


def _at_least(smallest: Integers, bound: Integers, applies: Flags) -> Integers:
    import numpy as np

    result: Integers = np.maximum(smallest, np.where(applies, bound, 0).max(axis=1, initial=0))
    return result


def _at_most(largest: Integers, bound: Integers, applies: Flags) -> Integers:
    import numpy as np

    result: Integers = np.minimum(largest, np.where(applies, bound, 2**62).min(axis=1, initial=2**62))
    return result
