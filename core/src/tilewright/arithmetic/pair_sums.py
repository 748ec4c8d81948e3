"""Knows the functions by which two scaled values are added, one for each rounding that QAdd has, on arrays of values.
Does not know which forms are equal to them (`scaled_sum`), nor tensors.

`onnx` is exact and rounded once. `tflm` is TensorFlow Lite Micro's: inputs shifted by 20 (15 where they have 16 bits),
three multipliers. With t = 2 * max(a_scale, b_scale) and D the double rounding of `roundings`, scales as float64:

    s = D((a - a_zero_point) << 20, a_scale / t) +- D((b - b_zero_point) << 20, b_scale / t)
    y = clamp(D(s, t / (2**20 * y_scale)) + zero_point, low, high)

`multiply-shift` is a sum of two products in 32 bits, with the finest shift that cannot overflow:

    y = clamp(((a - a_zero_point) * A + (b - b_zero_point) * B + 2**(shift - 1)) >> shift + zero_point, low, high)
    A = rne(a_scale / y_scale * 2**shift), B likewise
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from tilewright.arithmetic.scaled_sum import ScaledSum, SumForm, form_of, scaled_sum, sum_form
from tilewright.ir.tensors.roundings import DoubleRounding, fixed_multiplier

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]
    Integers = npt.NDArray[np.int64]

PairSum = Callable[[ScaledSum, "Array", "Array"], "Integers"]

_INPUT_SHIFT, _WIDE_SHIFT = 20, 15  # of inputs of 8 bits, and of 16
_LARGEST = 2**29
_FINEST = 28


def input_shift(total: ScaledSum) -> int:
    """By how much `tflm` shifts its inputs."""
    return _WIDE_SHIFT if total.wide else _INPUT_SHIFT


def fixed_scales(total: ScaledSum) -> tuple[float, float, float]:
    """The three ratios of `tflm`, in float64: of a, of b (whose sign is left out), and of the sum."""
    twice = 2 * max(total.a_scale, abs(total.b_scale))
    return total.a_scale / twice, abs(total.b_scale) / twice, twice / (2 ** input_shift(total) * total.y_scale)


def fixed_multipliers(total: ScaledSum) -> tuple[tuple[int, int], ...]:
    """The three multipliers and exponents of `tflm`."""
    return tuple(fixed_multiplier(scale) for scale in fixed_scales(total))


def fixed_sum(total: ScaledSum, a: Array, b: Array) -> Integers:
    """`tflm` of the module's text."""
    import numpy as np

    of_a, of_b, of_sum = (np.array([scale]) for scale in fixed_scales(total))
    rounded, shift = DoubleRounding().rounded, input_shift(total)
    left = rounded(((a.astype(np.int64) - total.a_zero_point) << shift)[..., None], of_a)
    right = rounded(((b.astype(np.int64) - total.b_zero_point) << shift)[..., None], of_b)
    whole = rounded(left - right if total.b_scale < 0 else left + right, of_sum)[..., 0]
    return _limited(total, whole)


def shifted_factors(total: ScaledSum) -> tuple[int, int, int]:
    """`A`, `B` and the shift of `multiply-shift`: values of 8 bits minus zero points are at most 511 in size."""
    ratios = total.ratios
    reach = 511 * (abs(ratios[0]) + abs(ratios[1])) + 1
    shift = next(shift for shift in range(_FINEST, -1, -1) if reach * 2**shift < _LARGEST or not shift)
    return round(ratios[0] * 2**shift), round(ratios[1] * 2**shift), shift


def shifted_sum(total: ScaledSum, a: Array, b: Array) -> Integers:
    """`multiply-shift` of the module's text."""
    import numpy as np

    a_factor, b_factor, shift = shifted_factors(total)
    products = (a.astype(np.int64) - total.a_zero_point) * a_factor
    products = products + (b.astype(np.int64) - total.b_zero_point) * b_factor
    return _limited(total, (products + (1 << shift >> 1)) >> shift)


def _limited(total: ScaledSum, whole: Integers) -> Integers:
    import numpy as np

    limited: Integers = np.minimum(np.maximum(whole + total.zero_point, total.low), total.high)
    return limited


@lru_cache(maxsize=512)
def pair_sum_form(
    total: ScaledSum, a_range: tuple[int, int], b_range: tuple[int, int], rounding: str
) -> SumForm | None:
    """The cheapest form that gives what `rounding` gives for every pair in the ranges; None where none is found."""
    import numpy as np

    if rounding == "onnx":
        return sum_form(total, a_range, b_range)
    if rounding == "multiply-shift":
        a_factor, b_factor, shift = shifted_factors(total)
        offset = (1 << shift >> 1) - a_factor * total.a_zero_point - b_factor * total.b_zero_point
        return SumForm(bits=32, a_factor=a_factor, b_factor=b_factor, offset=offset, shift=shift, ties=False)
    if total.wide:
        return None
    a, b = np.arange(a_range[0], a_range[1] + 1)[:, None], np.arange(b_range[0], b_range[1] + 1)
    return form_of(total, a, b, PAIR_SUMS[rounding](total, a, b), 32)


PAIR_SUMS: Mapping[str, PairSum] = MappingProxyType(
    {"onnx": scaled_sum, "tflm": fixed_sum, "multiply-shift": shifted_sum}
)
