"""Knows the spectrum of a frame: a transform of real samples in 16 bits, and the energy of its bins.
Does not know channels.

The transform is the decimation in time of the library KISS FFT for 16-bit integers: half as many complex points, in
steps of four (of two at the end, where one is left), each divided by its radix before it, products rounded to
nearest; then the two spectra that were computed together are told apart. Its twiddles are floor(32767 * cos + 1/2).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.api.graph import DType, Site
from tilewright_tflite.signals.parts import kernel, operator, whole

if TYPE_CHECKING:
    import numpy.typing as npt

    Words = npt.NDArray[np.int64]  # pairs of 16-bit values along the last axis: real and imaginary parts

_MOST = 2**15 - 1


def _twiddles(count: int, turns: Sequence[float]) -> npt.NDArray[np.int16]:
    """exp(-2 pi i turn) for each of `turns`, as `count` pairs."""
    phase = -2.0 * np.pi * np.asarray(turns, np.float64)
    parts = np.stack([np.cos(phase), np.sin(phase)], axis=-1)
    return np.floor(0.5 + _MOST * parts).astype(np.int16).reshape(2 * count)


def complex_twiddles(half: int, turn: int = 1) -> npt.NDArray[np.int16]:
    """Those of a transform of `half` complex points; with a `turn` of -1 of one that leads back."""
    return _twiddles(half, [turn * place / half for place in range(half)])


def real_twiddles(half: int, turn: int = 1) -> npt.NDArray[np.int16]:
    """Those that tell two spectra apart, or join them."""
    return _twiddles(half // 2, [turn * ((place + 1) / half + 0.5) / 2 for place in range(half // 2)])


def _rounded(products: Words) -> Words:
    return _word((products + 2**14) >> 15)


def _word(values: Words) -> Words:
    """What 16 bits hold."""
    return values.astype(np.int16).astype(np.int64)


def _product(a: Words, b: Words) -> Words:
    real = a[..., 0] * b[..., 0] - a[..., 1] * b[..., 1]
    imaginary = a[..., 0] * b[..., 1] + a[..., 1] * b[..., 0]
    return _rounded(np.stack([real, imaginary], axis=-1))


def _turned(a: Words, turn: int) -> Words:
    """a * -i, or a * i."""
    return turn * np.stack([a[..., 1], -a[..., 0]], axis=-1)


def _transformed(x: Words, table: Words, turn: int) -> Words:
    """The transform of complex points [n, 2] with the twiddles [half, 2] of the whole one."""
    count = len(x)
    if count == 1:
        return x
    radix = 4 if count % 4 == 0 else 2
    parts = np.stack([_transformed(x[first::radix], table, turn) for first in range(radix)])
    parts = _rounded(parts * (_MOST // radix))
    places = np.arange(count // radix) * (len(table) // count)
    first, *others = (_product(part, table[places * power]) if power else part for power, part in enumerate(parts))
    if radix == 2:
        return np.concatenate([_word(first + others[0]), _word(first - others[0])])
    difference, total = _word(first - others[1]), _word(first + others[1])
    both, apart = _word(others[0] + others[2]), _turned(_word(others[0] - others[2]), turn)
    ends = (total + both, difference + apart, total - both, difference - apart)
    return np.concatenate([_word(each) for each in ends])


def _spectrum(samples: Words, table: Words, last: Words) -> Words:
    """The bins [half + 1, 2] of real samples [2 * half]."""
    half = len(samples) // 2
    found = _transformed(samples.reshape(half, 2), table, 1)
    bins = np.zeros((half + 1, 2), np.int64)
    start = _rounded(found[0] * (_MOST // 2))
    bins[0, 0], bins[half, 0] = _word(start[0] + start[1]), _word(start[0] - start[1])
    near, far = np.arange(1, half // 2 + 1), half - np.arange(1, half // 2 + 1)
    a = _rounded(found[near] * (_MOST // 2))
    b = _rounded(found[far] * np.array([1, -1]) * (_MOST // 2))
    total, turned = _word(a + b), _product(_word(a - b), last)
    bins[near] = _word((total + turned) >> 1)
    bins[far] = _word((np.array([1, -1]) * (total - turned)) >> 1)
    return bins


def _rfft(site: Site, inputs: Sequence[Any]) -> tuple[Any, ...]:
    x, table, last = (np.asarray(array, np.int64) for array in inputs)
    half = len(table) // 2
    samples = np.zeros(2 * half, np.int64)
    samples[: len(x)] = x
    return (_spectrum(samples, table.reshape(-1, 2), last.reshape(-1, 2)).reshape(-1).astype(np.int16),)


def _samples(bins: Words, table: Words, last: Words) -> Words:
    """The real samples [2 * half] of bins [half + 1, 2]."""
    half, share = len(bins) - 1, _MOST // 2
    points = np.zeros((half, 2), np.int64)
    points[0] = _rounded(_word(bins[0, 0] + bins[half, 0] * np.array([1, -1])) * share)
    near, far = np.arange(1, half // 2 + 1), half - np.arange(1, half // 2 + 1)
    a = _rounded(bins[near] * share)
    b = _rounded(_word(bins[far] * np.array([1, -1])) * share)
    total, turned = _word(a + b), _product(_word(a - b), last)
    points[near] = _word(total + turned)
    points[far] = _word(_word(total - turned) * np.array([1, -1]))  # the one in the middle, too
    return _transformed(points, table, -1).reshape(-1)


def _irfft(site: Site, inputs: Sequence[Any]) -> tuple[Any, ...]:
    x, table, last = (np.asarray(array, np.int64).reshape(-1, 2) for array in inputs)
    return (_samples(x, table, last).astype(np.int16),)


def _energy(site: Site, inputs: Sequence[Any]) -> tuple[Any, ...]:
    x = np.asarray(inputs[0], np.int64).reshape(-1, 2)
    found = (x * x).sum(axis=-1)
    first, end = site.node.integer("first"), site.node.integer("end")
    found[:first], found[end:] = 0, 0
    return (found.astype(np.uint32),)


RFFT = operator(
    "RFFT",
    ("X", "W", "V"),
    (("Y", DType.I16),),
    "the spectrum of real samples, with zeros behind them: half as many bins, and one",
    _rfft,
    access=whole("X[:] W[:] V[:]", "Y[:]"),
    shapes=lambda site: ((site.input(1).shape[0] + 2,),),
)
IRFFT = operator(
    "IRFFT",
    ("X", "W", "V"),
    (("Y", DType.I16),),
    "the real samples of a spectrum, twice as many as its bins, less two",
    _irfft,
    access=whole("X[:] W[:] V[:]", "Y[:]"),
    shapes=lambda site: (site.input(1).shape,),
)
ENERGY = operator(
    "Energy",
    ("X",),
    (("Y", DType.U32),),
    "the square of each bin's magnitude, of those from first to end; 0 outside",
    _energy,
    ("first", "end"),
    access=whole("X[:]", "Y[:]"),
    shapes=lambda site: ((site.input(0).shape[0] // 2,),),
)

OPERATORS = (RFFT, IRFFT, ENERGY)
KERNELS = (
    kernel(RFFT, "${count}, ${X}, ${x_step}, ${W}, ${w_step}, ${V}, ${v_step}, ${Y}, ${y_step}, ${half}",
           values=lambda call: {"half": call.site.input(1).shape[0] // 2}),
    kernel(IRFFT, "${X}, ${x_step}, ${W}, ${w_step}, ${V}, ${v_step}, ${Y}, ${y_step}, ${half}",
           values=lambda call: {"half": call.site.input(1).shape[0] // 2}),
    kernel(ENERGY, "${first}, ${end}, ${half}, ${X}, ${x_step}, ${Y}, ${y_step}", words=("first", "end"),
           values=lambda call: {"half": call.site.output.shape[0]}),
)  # fmt: skip
