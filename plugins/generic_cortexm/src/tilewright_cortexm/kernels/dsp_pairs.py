"""Knows when the sums of two channels can come from words that hold both weights, and how such words are packed.
Does not know layers, nor which channels are computed together.

A 16-bit half holds `256 * upper + lower`: SMLAD adds `256 * x * upper + x * lower` to a sum T, modulo 2**32, and its
even bytes, extended, are the lower weights, whose sum S is computed beside it. Then `T - S` is 256 times the upper
channel's sum, modulo 2**32, and a shift by 8 makes it of this, where it lies in -2**23 .. 2**23 - 1. Widening the
upper weights is saved.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from tilewright.api.kernel import AccumulatorBounds

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]
    Bytes = npt.NDArray[np.int8]

_SUM_LIMIT = 2**23
_HALF_LIMIT = 2**15


def pairs_of(channels: range) -> list[range]:
    """Two channels of a block at a time, and the last one alone where they do not come out even."""
    return [range(first, min(first + 2, channels.stop)) for first in channels[::2]]


def proved(weights: Integers, bounds: AccumulatorBounds, pairs: Iterable[range]) -> bool:
    """Whether all pairs can be computed so. `weights` are [channels, ...]; `bounds` those of the finished sums."""
    lower, upper = _ends(pairs)
    least, most = (np.asarray(ends, dtype=object) for ends in (bounds.lowest, bounds.highest))
    halves = 256 * weights[upper] + weights[lower]
    return bool(
        lower
        and (halves >= -_HALF_LIMIT).all()
        and (least[upper] >= -_SUM_LIMIT).all()
        and (most[upper] < _SUM_LIMIT).all()
    )


def joint_biases(biases: Integers, pairs: Iterable[range]) -> Integers:
    """What sums begin with: of the upper channel of each pair, T's."""
    lower, upper = _ends(pairs)
    result = biases.copy()
    result[upper] = (256 * biases[upper] + biases[lower] + 2**31) % 2**32 - 2**31
    return result


def joint_words(fours: Bytes) -> Bytes:
    """Of both channels' weights, [2, fours, 4], the bytes of two words a four: of values 0 and 2, then of 1 and 3."""
    lower, upper = fours.astype(np.int16)
    halves = (256 * upper + lower).astype("<i2")  # proved to fit
    return np.ascontiguousarray(halves[:, (0, 2, 1, 3)]).view(np.int8)


def _ends(pairs: Iterable[range]) -> tuple[list[int], list[int]]:
    """The lower and the upper channel of those that are two."""
    two = [pair for pair in pairs if len(pair) == 2]
    return [pair[0] for pair in two], [pair[1] for pair in two]
