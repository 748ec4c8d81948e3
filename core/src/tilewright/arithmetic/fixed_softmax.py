"""Knows softmax of 8-bit values in TensorFlow Lite Micro's fixed point: exponential and reciprocal of 31 bits.
Does not know tensors, nor how it is written in C.

Numbers are int32 with a fixed point: `Qm.n` has n bits behind it. `mul(a, b) = floor((a * b + 2**30) / 2**31)`, and
`div(a, e)` is `a / 2**e` to the nearest, halves away from zero. With d = x - largest of the row, at most 0:

    a = d * x_scale in Q5.26, by the multiplier and exponent of `x_scale * 2**26`; a value counts for nothing where d is
        below -floor(31 * 2**26 / 2**exponent), which is between 15.5 and 31 in real numbers
    e(a) in Q0.31: a is cut into -k/4 and a rest from -1/4 to 0. Of the rest a polynomial of degree 4 around -1/8, times
        exp(-2**i) for every bit of k/4
    s = sum of div(e, 12) in Q12.19, z its leading zeros
    r = 1 / (s * 2**z / 2**31), from half of it: 48/17 - 32/17 h, and three steps of Newton's method, in Q2.29
    y = div(mul(2 r, e), 12 - z + 31 - 8) + zero_point, clamped

Source: the softmax of TensorFlow Lite Micro's reference kernels, and gemmlowp's; written from the mathematics.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tilewright.ir.tensors.roundings import fixed_multiplier

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]

LONGEST = 511  # elements of a row: beyond, the last shift may exceed 31
_ONE = 2**31 - 1
_INTEGER_BITS = 5
_SUM_BITS = 12


def multiply_high(a: int, b: int) -> int:
    """`mul` of the module's text."""
    return (a * b + 2**30) >> 31


def divide_by_power(value: int, exponent: int) -> int:
    """`div` of the module's text."""
    return (value + (1 << exponent >> 1) - (value < 0 and exponent > 0)) >> exponent


def exponential(a: int) -> int:
    """exp(a) in Q0.31, of an `a` in Q5.26 that is not positive."""
    if a == 0:
        return _ONE
    rest = a % 2**24 - 2**24  # from -1/4 to just below 0
    quarters = rest - a
    x = (rest << 5) + 2**28  # Q0.31, around -1/8
    x2 = multiply_high(x, x)
    x3, x4 = multiply_high(x2, x), multiply_high(x2, x2)
    higher = multiply_high(divide_by_power(x4, 2) + x3, round(2**31 / 3)) + x2
    middle = round(math.exp(-1 / 8) * 2**31)
    result = middle + multiply_high(middle, x + divide_by_power(higher, 1))
    for power in range(-2, _INTEGER_BITS):
        if quarters & (1 << (26 + power)):
            result = multiply_high(result, round(math.exp(-(2.0**power)) * 2**31))
    return result


def exponentials(x_scale: float) -> list[int]:
    """`e` of d = 0, -1, -2, ... as far as they count, at most 256."""
    multiplier, exponent = fixed_multiplier(min(x_scale * 2.0 ** (31 - _INTEGER_BITS), float(_ONE)))
    reach = math.floor((2**_INTEGER_BITS - 1) * 2 ** (31 - _INTEGER_BITS) / 2**exponent)
    return [exponential(multiply_high(-d << exponent, multiplier)) for d in range(min(reach, 255) + 1)]


def reciprocal(total: int) -> tuple[int, int]:
    """`2 r` in Q0.31 and `z`, of a sum in Q12.19 that is positive and below 2**31."""
    zeros = 32 - total.bit_length()
    half = ((total << zeros) - 2**31 + _ONE + 1) >> 1  # rounded to nearest, of a number that is not negative
    r = 1515870810 + multiply_high(half, -1010580540)  # 48/17 and -32/17 in Q2.29
    for _ in range(3):
        r += multiply_high(r, 2**29 - multiply_high(half, r)) << 2
    return min(r << 1, _ONE), zeros


def row(values: Integers, table: Integers, zero_point: int) -> Integers:
    """The results of one row, before they are clamped; `table` has 256 elements, 0 where a value counts for nothing."""
    import numpy as np

    e = table[int(values.max()) - values]
    scale, zeros = reciprocal(int(((e + 2**11) >> _SUM_BITS).sum()))
    shift = _SUM_BITS - zeros + 31 - 8
    high = (e * scale + 2**30) >> 31
    result: Integers = np.where(e > 0, (high + (1 << (shift - 1))) >> shift, 0) + zero_point
    return result
