"""Knows tanh as a table: cubic polynomials between places of 0 to 9, 1/16 apart. Does not know instructions.

With t = tanh(k / 16), s = 1 - t^2 and |d| <= h = 1/32, the series of tanh(k / 16 + d) has the terms

    t, s d, -t s d^2, s (3 t^2 - 1) / 3 d^3, t s (2 - 3 t^2) / 3 d^4, s (2 - 15 t^2 + 15 t^4) / 15 d^5.

The last two are taken into the others by Chebyshev's polynomials: d^4 by h^2 d^2 - h^4 / 8, and d^5 by 5/4 h^2 d^3 -
5/16 h^4 d. At 0 the result is d (1 + c d^2), c as near as it gets relatively: small numbers stay what they are.

Gone through were all floats from 2^-14 to where results are 1: they are at most 5.6 units of 2^-24 off relatively where
products are rounded, and 5.1 where they are not, of the 8 that an error of 4 ULP is. Below 2^-12 x itself is 0.4 off.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from tilewright.api.graph import DType
from tilewright.api.kernel import c_element

APART = 16  # places in 1
END = 9.0  # from where on results are 1
_HALF = 1 / (2 * APART)


@cache
def places() -> tuple[tuple[float, ...], ...]:
    """The polynomial of each place, coefficients of d^3 first, as float32."""
    return tuple(_place(index / APART) for index in range(int(END * APART) + 1))


def _place(at: float) -> tuple[float, ...]:
    t = math.tanh(at)
    s = 1 - t * t
    fourth, fifth = t * s * (2 - 3 * t * t) / 3, s * (2 - 15 * t**2 + 15 * t**4) / 15
    if at == 0:
        exact = (-1 / 3 + fifth * _HALF**2 * 2 * (math.sqrt(2) - 1), 0.0, 1.0, 0.0)
    else:
        exact = (
            s * (3 * t * t - 1) / 3 + fifth * _HALF**2 * 5 / 4,
            -t * s + fourth * _HALF**2,
            s - fifth * _HALF**4 * 5 / 16,
            t - fourth * _HALF**4 / 8,
        )
    return tuple(float(np.float32(value)) for value in exact)


@cache
def rows() -> tuple[str, ...]:
    """The table as C, a place a line."""
    return tuple(", ".join(c_element(value, DType.F32) for value in place) for place in places())
