"""Knows sigmoid and tanh of 16 bits, as gates of integer recurrences have them: one table of sigmoid for both, and a
straight line between its elements. Does not know cells.

The table has sigmoid(i / 24) in steps of 2**-16, for i from 0 to 255. A line between two elements lies below the curve:
half of what is missing in the middle is added to the element before it, so that the line is as far below as above. Its
last element is the largest of 16 bits. Both functions take an x that is 0 or above; sigmoid(-x) = 1 - sigmoid(x), and
tanh(x) = 2 * sigmoid(2 * x) - 1 is odd. Results have 15 bits behind the point. `>>` rounds down.

    sigmoid   v has 12 bits behind the point; a = 3 * |v|, k = a >> 9, p = a & 511
              s = (T[k] << 9) + p * (T[k + 1] - T[k]), or 32767 << 10 from k = 255 on
              (s + 512) >> 10 where v >= 0, else (2**25 - s + 511) >> 10
    tanh      v has 2**power for a step; n = 12 + power
              a = |3 * v << n|, or |(3 * v + 2**(-n - 1)) >> -n| where n < 0; k = a >> 8, p = a & 255
              s = (T[k] << 8) + p * (T[k + 1] - T[k]), or 65535 << 8 from k = 255 on
              (s - 2**23 + 128) >> 8, with the sign of v

Source: TensorFlow Lite Micro, reference/integer_ops/logistic.h and tanh.h, whose results these are.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]

ENTRIES = 256
GATE_POWER = -12  # of what gates' functions are given
_PER_UNIT = 24.0  # elements


@cache
def gate_table() -> npt.NDArray[np.uint16]:
    """The table, read-only."""
    at = np.arange(ENTRIES)
    own, middle, following = (65536 / (1 + np.exp(-(at + part) / _PER_UNIT)) for part in (0, 0.5, 1))
    table: npt.NDArray[np.uint16] = np.rint(own + (middle - (own + following) / 2) / 2).astype(np.uint16)
    table[-1] = 65535
    table.flags.writeable = False
    return table


def sigmoid(v: Integers) -> Integers:
    """Of numbers with 12 bits behind the point."""
    size = 3 * np.abs(v)
    value = _line(size, 9, 32767 << 10)
    return np.where(v >= 0, value + 512, 2**25 - value + 511) >> 10


def tanh_shift(power: int) -> tuple[int, int]:
    """What a number of steps of 2**power is multiplied with, and then shifted to the right by."""
    return (3 << 12 + power, 0) if power >= -12 else (3, -12 - power)


def tanh(v: Integers, power: int = GATE_POWER) -> Integers:
    """Of numbers of steps of 2**power."""
    multiplier, shift = tanh_shift(power)
    placed = (v * multiplier + ((1 << shift) >> 1)) >> shift
    value = (_line(np.abs(placed), 8, 65535 << 8) - 2**23 + 128) >> 8
    return np.where(placed >= 0, value, -value)


def _line(size: Integers, bits: int, largest: int) -> Integers:
    table = gate_table().astype(np.int64)
    place = np.minimum(size >> bits, ENTRIES - 2)
    between = (table[place] << bits) + (size & ((1 << bits) - 1)) * (table[place + 1] - table[place])
    return np.where(size >> bits >= ENTRIES - 1, largest, between)
