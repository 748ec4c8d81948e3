"""Knows softmax of 16-bit values in integers: by exponentials that are products of two, and in TensorFlow Lite Micro's
arithmetic. Does not know tensors, nor how it is written in C, nor values of 8 bits.

`onnx`. With d = largest of the row - x, 0 to 65535, all divisions rounding down:

    H[i] = rint(exp(-256 * i * x_scale) * 2**31), L[i] = rint(exp(-i * x_scale) * 2**31)        in float64, i = 0 .. 255
    e    = (H[d / 256] * L[d % 256] + 2**30) / 2**31
    unit = (sum(e) + 2**14) / 2**15 * rint(y_scale * 2**31)
    y    = clamp((e * 2**16 + unit / 2) / unit + zero_point, low, high)

Sums are at least 2**31, so their 2**15th parts are right to 2**-17: y is at most one step from the softmax in floats.

`tflm`. The result has the scale 2**-15, zero point 0. E has exp from -10 to 0, R has 1 / (1 + x) from 0 to 1, both at
513 places as `lines` makes them, and `between` is the line of `qlookup`. D is the double rounding of `roundings`:

    e = between(E, clamp(D(x - largest, x_scale / (10 / 65535)) + 32767))
    s = sum(e), z its leading zeros of 32 bits; r = between(R, clamp((s * 2**(z - 1) + 2**13) / 2**14 - 2**16 - 2**15))
    y = clamp((e * r + 2**(30 - z)) / 2**(31 - z), 0, 32767)

Source: the softmax of TensorFlow Lite Micro's reference kernels; written from the mathematics.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tilewright.ir.tensors.roundings import DoubleRounding

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]
    Floats = npt.NDArray[np.float32]

STEP = 128  # between places of a table for 16 bits
PLACES = 2**16 // STEP + 1
LONGEST = 2**15
_PER_STEP = 10.0 / 65535  # what `tflm` has differences in


def factors(x_scale: float) -> npt.NDArray[np.uint32]:
    """H and L of the module's text."""
    import numpy as np

    at = np.arange(256, dtype=np.float64)
    both = np.concatenate([np.exp(-256 * at * x_scale), np.exp(-at * x_scale)])
    result: npt.NDArray[np.uint32] = np.rint(both * 2**31).astype(np.uint32)
    return result


def exact_row(x: Integers, table: Integers, y_scale: float) -> Integers:
    """The results of one row by `onnx`, without zero point and limits; `table` is `factors`."""
    import numpy as np

    return exact_rows(x, np.ones(x.shape, bool), table, y_scale, 0)


def exact_rows(x: Integers, counts: npt.NDArray[np.bool_], table: Integers, y_scale: float, axis: int) -> Integers:
    """The same of rows along `axis`, of the elements that count: others are 0, and a row may have no other ones."""
    import numpy as np

    largest = np.where(counts, x, x.min(initial=0)).max(axis=axis, keepdims=True)
    below = np.maximum(largest - x, 0)
    e = np.where(counts, (table[below // 256] * table[256 + below % 256] + 2**30) >> 31, 0)
    unit = np.maximum(((e.sum(axis=axis, keepdims=True) + 2**14) >> 15) * round(y_scale * 2**31), 1)
    results: Integers = ((e << 16) + unit // 2) // unit
    return results


def between(table: Integers, places: Integers) -> Integers:
    """The results of 16-bit values, counted from the lowest one, on the lines between the places of a table."""
    part, at = places % STEP, places // STEP
    return table[at] + ((table[at + 1] - table[at]) * part + STEP // 2) // STEP


def lines(function: Callable[[Floats], Floats], first: float, last: float) -> npt.NDArray[np.int16]:
    """A function at 513 places of a range, in steps of 2**-15, by float32: half of what the line is off in the middle
    is taken from where it begins.
    """
    import numpy as np

    single, unit = np.float32, np.float32(2**15)
    step = single(single(last) - single(first)) / single(PLACES - 1)
    at = single(first) + np.arange(PLACES, dtype=single) * step
    ends, middles = _nearest(function(at) * unit), _nearest(function(at[:-1] + step / single(2)) * unit)
    over = _nearest((function(at[1:]) * unit + ends[:-1]) / single(2)) - middles
    ends[:-1] -= _nearest(over / single(2))
    result: npt.NDArray[np.int16] = np.clip(ends, -(2**15), 2**15 - 1).astype(np.int16)
    return result


def _nearest(values: Floats) -> Floats:
    """Whole numbers, halves away from zero."""
    import numpy as np

    whole: Floats = np.copysign(np.floor(np.abs(values) + np.float32(0.5)), values)
    return whole


def fixed_tables() -> npt.NDArray[np.int16]:
    """E and R of the module's text."""
    import numpy as np

    one = np.float32(1)
    return np.concatenate([lines(np.exp, -10, 0), lines(lambda x: one / (one + x), 0, 1)])


def fixed_numbers(x_scale: float) -> tuple[int, int]:
    """The multiplier and the exponent that differences are rescaled by in `tflm`."""
    return DoubleRounding().numbers(x_scale / _PER_STEP)


def fixed_row(x: Integers, table: Integers, x_scale: float) -> Integers:
    """The results of one row by `tflm`; `table` is `fixed_tables`."""
    import numpy as np

    moved = DoubleRounding().rounded(x - x.max(), np.array([x_scale / _PER_STEP])) + 2**15 + 2**15 - 1
    e = between(table[:PLACES], np.clip(moved, 0, 2**16 - 1))
    total = int(e.sum())
    zeros = 32 - total.bit_length()
    place = (((total << (zeros - 1)) + 2**13) >> 14) - 2**16
    r = int(between(table[PLACES:], np.array([min(max(place, 0), 2**16 - 1)]))[0])
    shift = 31 - zeros
    results: Integers = np.clip((e * r + (1 << (shift - 1))) >> shift, 0, 2**15 - 1)
    return results
