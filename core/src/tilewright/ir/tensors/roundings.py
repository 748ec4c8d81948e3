"""Knows the ways in which a scaled accumulator becomes a whole number: what every requantisation is made of.
Does not know zero points and limits (`requant`), nor which of them a target has in hardware.

Each is a frozen value with a name and a reference in numpy: `rounded(accumulator, scales)`, arrays that broadcast.
Each never falls as the accumulator rises, but for a product that wraps. `docs/design/numbers.md` has the formulas and
their sources.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]

_SAFE = 2**62  # products of int64 arrays stay below it; beyond, Python's integers compute


@dataclass(frozen=True, slots=True)
class Float32HalfEven:
    """`rne(f32(f32(acc) * f32(scale)))`: ONNX's float formula with the scales in one product. Halves go to even."""

    @property
    def name(self) -> str:
        """What settings, reports and kernels call it."""
        return "onnx"

    def rounded(self, accumulator: npt.NDArray[np.int64], scales: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        """See the module's text."""
        import numpy as np

        with np.errstate(over="ignore", invalid="ignore"):
            product = np.rint(accumulator.astype(np.float32) * scales.astype(np.float32))  # float32 throughout
        whole: Integers = np.clip(product, -(2.0**31), 2.0**31).astype(np.int64)  # of a huge float it is undefined
        return whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Rational:
    """`acc * numerator / denominator` to the nearest, nothing rounded before: one ratio, or one for each channel, with
    halves to `even` or `away` from zero. No number is negative."""

    numerator: tuple[int, ...]
    denominator: tuple[int, ...]
    halves: Literal["even", "away"] = "even"

    @property
    def name(self) -> str:
        """What settings, reports and kernels call it."""
        return "rational"

    def rounded(self, accumulator: npt.NDArray[np.int64], scales: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        """See the module's text."""
        import numpy as np

        above, below = (_as(scales.shape, terms) for terms in (self.numerator, self.denominator))
        accumulator = _wide(accumulator, self.numerator, self.denominator)
        product = accumulator * above
        floor = product // below
        twice = 2 * (product - floor * below)
        up = (product >= 0) if self.halves == "away" else (floor % 2 != 0)
        return np.asarray(floor + ((twice > below) | ((twice == below) & up)), np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class DoubleRounding:
    """The fixed point of TensorFlow Lite Micro: a multiplier of 31 bits and an exponent, rounded twice.

    `fixed_multiplier(scale)` gives both. With `high(x) = floor((x * multiplier + 2**30) / 2**31)`, which fits int32:

        exponent > 0    high(int32(acc << exponent))             the shifted sum wraps around at 32 bits
        otherwise       high(acc) / 2**-exponent                 rounded to nearest, halves away from zero

    A mean of `terms` elements divides its multiplier by them, see `mean_multiplier`.
    """

    terms: int = 1

    @property
    def name(self) -> str:
        """What settings, reports and kernels call it."""
        return "tflm"

    def numbers(self, scale: float) -> tuple[int, int]:
        """The multiplier and the exponent of one channel."""
        return mean_multiplier(scale, self.terms) if self.terms > 1 else fixed_multiplier(scale)

    def rounded(self, accumulator: npt.NDArray[np.int64], scales: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        """See the module's text."""
        import numpy as np

        pairs = [self.numbers(float(scale)) for scale in scales.reshape(-1)]
        multiplier = np.array([pair[0] for pair in pairs], np.int64).reshape(scales.shape)
        exponent = np.array([pair[1] for pair in pairs], np.int64).reshape(scales.shape)
        left, right = np.maximum(exponent, 0), np.maximum(-exponent, 0)
        shifted = wrapped(wrapped(accumulator, 32) << left, 32)
        high = (shifted * multiplier + 2**30) >> 31
        half = np.where(right > 0, (np.int64(1) << np.maximum(right - 1, 0)) - (high < 0), 0)
        return np.asarray((high + half) >> right, np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class MultiplyShift:
    """`(fit(fit(acc * multiplier) + addend) + constant) / 2**shift`, rounded down: what accelerators and the PULP world
    compute. Each of the three is one number, or one for each channel.

    `constant` is 0 for `floor`, half of `2**shift` for `half-up`, and for `half-even` as much as takes halves to even.
    `fit` is what a register of `bits` does, after each step, the constant's included: it wraps around or saturates.
    The bias of the layer is in the accumulator; `addend` is what is added behind the product.
    """

    multiplier: tuple[int, ...]
    addend: tuple[int, ...] = (0,)
    shift: tuple[int, ...]
    rounding: Literal["floor", "half-up", "half-even"] = "half-up"
    bits: int = 32
    overflow: Literal["wraps", "saturates"] = "wraps"

    @property
    def name(self) -> str:
        """What settings, reports and kernels call it."""
        return "multiply-shift"

    def rounded(self, accumulator: npt.NDArray[np.int64], scales: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        """See the module's text."""
        import numpy as np

        multiplier, addend, shift = (_as(scales.shape, terms) for terms in (self.multiplier, self.addend, self.shift))
        accumulator = _wide(accumulator, self.multiplier, self.addend)
        value = self._fit(self._fit(accumulator * multiplier) + addend)
        half = np.where(shift > 0, np.left_shift(1, np.maximum(shift - 1, 0)), 0)
        if self.rounding == "half-up":
            value = self._fit(value + half)
        elif self.rounding == "half-even":
            value = self._fit(value + half - (half > 0) * (1 - ((value >> shift) & 1)))
        return np.asarray(value >> shift, np.int64)

    def _fit(self, value: Integers) -> Integers:
        if self.overflow == "wraps":
            return wrapped(value, self.bits)
        import numpy as np

        limited: Integers = np.clip(value, -(2 ** (self.bits - 1)), 2 ** (self.bits - 1) - 1)
        return limited


Rounding = Float32HalfEven | Rational | DoubleRounding | MultiplyShift


def fixed_multiplier(scale: float) -> tuple[int, int]:
    """`multiplier`, `exponent`: `multiplier * 2**(exponent - 31)` is the nearest to `scale`, halves up, of multipliers
    from 2**30 to 2**31 - 1. A scale below 2**-32 is 0, one of 2**30 or more is the largest that there is.
    """
    fraction, exponent = math.frexp(scale)
    multiplier = math.floor(fraction * 2**31 + 0.5)
    if multiplier == 2**31:
        multiplier, exponent = 2**30, exponent + 1
    if exponent < -31 or multiplier == 0:
        return 0, 0
    return (2**31 - 1, 30) if exponent > 30 else (multiplier, exponent)


def mean_multiplier(scale: float, terms: int) -> tuple[int, int]:
    """The same of `scale / terms`: the multiplier times the largest power of two up to `terms`, over `terms`, rounded
    down; the exponent falls by as much, to -31 at least.
    """
    multiplier, exponent = fixed_multiplier(scale)
    shift = min(terms.bit_length() - 1, 32, 31 + exponent)
    return (multiplier << shift) // terms, exponent - shift


def wrapped(value: Integers, bits: int) -> Integers:
    """What a register of `bits` holds of `value`, as a signed number."""
    if bits >= 64:
        return value
    kept: Integers = ((value + 2 ** (bits - 1)) & (2**bits - 1)) - 2 ** (bits - 1)
    return kept


def _as(shape: tuple[int, ...], terms: tuple[int, ...]) -> Integers:
    """One number for all channels, or one each, in the shape of the scales; Python's integers beyond 62 bits."""
    import numpy as np

    kind = np.int64 if max(map(abs, terms)) < _SAFE else object
    array: Integers = np.array(terms, kind)
    return array.reshape(shape if len(terms) > 1 else (1,) * len(shape))


def _wide(accumulator: Integers, factor: tuple[int, ...], added: tuple[int, ...]) -> Integers:
    """The accumulator, as Python's integers where its products would not fit int64."""
    import numpy as np

    reach = int(np.abs(accumulator).max(initial=0)) * max(map(abs, factor)) * 2 + 2 * max(map(abs, added))
    return accumulator if reach < _SAFE else accumulator.astype(object)
