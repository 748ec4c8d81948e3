"""Knows the transform of real samples, and the way back, in 16 and 32 bits, and in floats. Does not know operators.

It is the decimation in time of the library KISS FFT: half as many complex points, in steps of four (of two at the end,
where one is left), then the two spectra that were computed together are told apart. Whole numbers stand for fractions:
each point is divided by the radix before a step, products are rounded to nearest, twiddles are floor(most * cos + 1/2),
where most is the largest number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Numbers = npt.NDArray[Any]  # pairs along the last axis: real and imaginary parts, wide enough for products

UNIT = 2.0**-24  # half a step of a float that is near 1


def complex_twiddles(half: int, turn: int = 1, dtype: npt.DTypeLike = np.int16) -> Numbers:
    """Those of a transform of `half` complex points; with a `turn` of -1 of one that leads back."""
    return _twiddles(half, [turn * place / half for place in range(half)], dtype)


def real_twiddles(half: int, turn: int = 1, dtype: npt.DTypeLike = np.int16) -> Numbers:
    """Those that tell two spectra apart, or join them."""
    return _twiddles(half // 2, [turn * ((place + 1) / half + 0.5) / 2 for place in range(half // 2)], dtype)


def _twiddles(count: int, turns: Sequence[float], dtype: npt.DTypeLike) -> Numbers:
    """exp(-2 pi i turn) for each of `turns`, as `count` pairs."""
    phase = -2.0 * np.pi * np.asarray(turns, np.float64)
    parts = np.stack([np.cos(phase), np.sin(phase)], axis=-1)
    whole = np.issubdtype(dtype, np.integer)
    parts = np.floor(0.5 + np.iinfo(dtype).max * parts) if whole else parts
    return parts.astype(dtype).reshape(2 * count)


class Kind:
    """How numbers of one type are added, multiplied and shared. Results are int64, or double where they are floats."""

    def __init__(self, dtype: npt.DTypeLike) -> None:
        self.dtype = np.dtype(dtype)
        self.whole = self.dtype.kind == "i"
        self.wide: np.dtype[Any] = np.dtype(np.int64 if self.whole else np.float64)
        self._bits = 8 * self.dtype.itemsize - 1

    def word(self, values: Numbers) -> Numbers:
        """What the type holds of them."""
        return values.astype(self.dtype).astype(self.wide) if self.whole else values

    def half(self, values: Numbers) -> Numbers:
        """Half of sums of two: those of 32 bits have wrapped before."""
        if not self.whole:
            return values / 2
        return self.word((values if self.dtype.itemsize == 2 else self.word(values)) >> 1)

    def share(self, values: Numbers, parts: int) -> Numbers:
        """Divided by `parts`, where they are fractions."""
        return self._rounded(values * (((1 << self._bits) - 1) // parts)) if self.whole else values

    def product(self, a: Numbers, b: Numbers) -> Numbers:
        """Of complex numbers."""
        real = a[..., 0] * b[..., 0] - a[..., 1] * b[..., 1]
        imaginary = a[..., 0] * b[..., 1] + a[..., 1] * b[..., 0]
        result = np.stack([real, imaginary], axis=-1)
        return self._rounded(result) if self.whole else result

    def _rounded(self, products: Numbers) -> Numbers:
        return self.word((products + (1 << (self._bits - 1))) >> self._bits)


def _turned(a: Numbers, turn: int) -> Numbers:
    """a * -i, or a * i."""
    return turn * np.stack([a[..., 1], -a[..., 0]], axis=-1)


def _transformed(kind: Kind, x: Numbers, table: Numbers, turn: int) -> Numbers:
    """The transform of complex points [n, 2] with the twiddles [half, 2] of the whole one."""
    count = len(x)
    if count == 1:
        return x
    radix = 4 if count % 4 == 0 else 2
    parts = kind.share(np.stack([_transformed(kind, x[first::radix], table, turn) for first in range(radix)]), radix)
    places = np.arange(count // radix) * (len(table) // count)
    first, *others = (kind.product(part, table[places * power]) if power else part for power, part in enumerate(parts))
    if radix == 2:
        return np.concatenate([kind.word(first + others[0]), kind.word(first - others[0])])
    difference, total = kind.word(first - others[1]), kind.word(first + others[1])
    both, apart = kind.word(others[0] + others[2]), _turned(kind.word(others[0] - others[2]), turn)
    ends = (total + both, difference + apart, total - both, difference - apart)
    return np.concatenate([kind.word(each) for each in ends])


def spectrum(kind: Kind, samples: Numbers, table: Numbers, last: Numbers) -> Numbers:
    """The bins [half + 1, 2] of real samples [2 * half]."""
    half = len(samples) // 2
    result = _transformed(kind, samples.reshape(half, 2), table, 1)
    bins = np.zeros((half + 1, 2), kind.wide)
    start = kind.share(result[0], 2)
    bins[0, 0], bins[half, 0] = kind.word(start[0] + start[1]), kind.word(start[0] - start[1])
    near, far = np.arange(1, half // 2 + 1), half - np.arange(1, half // 2 + 1)
    a, b = kind.share(result[near], 2), kind.share(kind.word(result[far] * np.array([1, -1])), 2)
    total, turned = kind.word(a + b), kind.product(kind.word(a - b), last)
    bins[near] = kind.half(total + turned)
    bins[far] = kind.half(np.array([1, -1]) * (total - turned))
    return bins


def samples_of(kind: Kind, bins: Numbers, table: Numbers, last: Numbers) -> Numbers:
    """The real samples [2 * half] of bins [half + 1, 2]."""
    half = len(bins) - 1
    points = np.zeros((half, 2), kind.wide)
    points[0] = kind.share(kind.word(bins[0, 0] + bins[half, 0] * np.array([1, -1])), 2)
    near, far = np.arange(1, half // 2 + 1), half - np.arange(1, half // 2 + 1)
    a, b = kind.share(bins[near], 2), kind.share(kind.word(bins[far] * np.array([1, -1])), 2)
    total, turned = kind.word(a + b), kind.product(kind.word(a - b), last)
    points[near] = kind.word(total + turned)
    points[far] = kind.word(kind.word(total - turned) * np.array([1, -1]))  # the one in the middle, too
    result = _transformed(kind, points, table, -1).reshape(-1)
    return result if kind.whole else result / (2 * half)
