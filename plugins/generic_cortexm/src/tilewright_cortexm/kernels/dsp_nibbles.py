"""Knows how weights of 4 bits of two channels share words, and what sums begin with so that they come apart again.
Does not know layers, nor which channels are computed together.

A word holds four values of a pair of channels, a byte each: `16 * upper + lower + 8`, the lower nibble unsigned. Bytes
extended to halves are factors of a sum T, their lower nibbles those of a sum S beside it. `T - S` is 16 times the upper
channel's sum, modulo 2**32. S counts every lower weight 8 too large: 8 times the sum of the column's values is taken
away beforehand, from both (`tw_dsp_nibble_offset`). A channel alone is the upper one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tilewright.api import ceil_div
from tilewright.api.kernel import AccumulatorBounds

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]
    Bytes = npt.NDArray[np.int8]

LOW, HIGH = -8, 7
_SUM_LIMIT = 2**27


def words_of(channels: int) -> int:
    """Words of four values of a block of channels."""
    return ceil_div(channels, 2)


def refused(weights: Integers, bounds: AccumulatorBounds) -> str | None:
    """Why weights (zero points subtracted) or the finished sums do not have this form, or None."""
    if weights.min(initial=0) < LOW or weights.max(initial=0) > HIGH:
        return "weights minus their zero points do not fit 4 bits"
    if min(bounds.lowest, default=0) < -_SUM_LIMIT or max(bounds.highest, default=0) >= _SUM_LIMIT:
        return "sums leave the 28 bits in which two channels come apart"
    return None


def nibble_biases(biases: Integers, pairs: Iterable[range]) -> Integers:
    """What sums begin with, but for the column's part."""
    result = biases.copy()
    for pair in pairs:
        lower = biases[pair[0]] if len(pair) == 2 else 0
        result[pair[-1]] = (16 * biases[pair[-1]] + lower + 2**31) % 2**32 - 2**31
    return result


def nibble_words(fours: Bytes, pairs: Sequence[range]) -> Bytes:
    """Of a block's weights, [channels, fours, 4], the bytes of one word for each four and pair."""
    joined = nibble_bytes(fours.reshape(len(fours), -1), pairs, alone=8)
    return joined.reshape(len(pairs), -1, 4).swapaxes(0, 1).reshape(-1)


def nibble_bytes(rows: Bytes, pairs: Sequence[range], alone: int) -> Bytes:
    """Of a block's weights, [channels, values], a byte for each value of each pair. `alone`: the lower nibble of a
    channel that is alone.
    """
    wide = rows.astype(np.int16)
    joined = [16 * wide[pair[-1]] + (wide[pair[0]] + 8 if len(pair) == 2 else alone) for pair in pairs]
    result: Bytes = np.stack(joined).astype(np.int8)
    return result
