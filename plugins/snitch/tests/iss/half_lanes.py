"""Knows Snitch's floats of 16 bits: how they are stored in both formats, conversions, four of them side by side.
Does not know registers, nor time. Every operation is rounded once, to the nearest, ties to even.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import ml_dtypes
import numpy as np
import numpy.typing as npt
from float_numbers import bits32, fma64, larger, product, single, smaller

LANES, MASK = 4, 0xFFFF
BOX = 0xFFFFFFFF_FFFF0000  # above a float of 16 bits that is alone


@dataclass(frozen=True)
class Half:
    """A format. Sums and products of two are exact enough in float64, and float32, to be rounded again."""

    dtype: npt.DTypeLike

    def get(self, bits: int) -> float:
        return float(np.uint16(bits & MASK).view(self.dtype))

    def put(self, value: float) -> int:
        with np.errstate(over="ignore"):
            return int(np.float64(value).astype(self.dtype).view(np.uint16)) if value == value else self.no_number

    @property
    def no_number(self) -> int:
        return int(np.array(np.nan, self.dtype).view(np.uint16)) & 0x7FFF


FORMATS = (Half(np.float16), Half(ml_dtypes.bfloat16))  # the second where control register 0x800 is 3
_LANES: dict[int, tuple[str, Callable[[float, float], float]]] = {
    1: ("vfadd.h", lambda a, b: a + b),
    2: ("vfsub.h", lambda a, b: a - b),
    3: ("vfmul.h", product),
    5: ("vfmin.h", smaller),
    6: ("vfmax.h", larger),
}


def from_single(form: Half) -> Callable[[int], int]:
    """fcvt.h.s"""
    return lambda a: BOX | form.put(single(a))


def to_single(form: Half) -> Callable[[int], int]:
    """fcvt.s.h"""
    return lambda a: bits32(form.get(a))


def lanes_of(group: int, form: Half, *, repeated: bool) -> tuple[str, Callable[..., int]] | None:
    """A packed instruction's name and what it computes; `repeated`: the second operand's lowest lane is all of them."""

    def pairs(a: int, b: int) -> list[tuple[int, int]]:
        return [(a >> 16 * at, b >> (0 if repeated else 16 * at)) for at in range(LANES)]

    def joined(values: list[float]) -> int:
        return sum(form.put(value) << 16 * at for at, value in enumerate(values))

    if group == 8:

        def fused(a: int, b: int, c: int) -> int:
            terms = [form.get(c >> 16 * at) for at in range(LANES)]
            factors = [(form.get(one), form.get(other)) for one, other in pairs(a, b)]
            return joined([fma64(*two, term) for two, term in zip(factors, terms, strict=True)])

        return "vfmac.h", fused
    if group not in _LANES:
        return None
    name, function = _LANES[group]
    return name, lambda a, b: joined([function(form.get(one), form.get(other)) for one, other in pairs(a, b)])
