"""Knows arithmetic of Snitch's float unit on bits: float64, float32 in the lower half, two float32 side by side.
Does not know registers, nor time. Every operation is rounded once, to the nearest, ties to even.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import math
import struct
from collections.abc import Callable

LIBRARY = ctypes.CDLL(ctypes.util.find_library("m"))
fma64: Callable[[float, float, float], float] = LIBRARY.fma
fma32: Callable[[float, float, float], float] = LIBRARY.fmaf
LIBRARY.fma.restype, LIBRARY.fma.argtypes = ctypes.c_double, [ctypes.c_double] * 3
LIBRARY.fmaf.restype, LIBRARY.fmaf.argtypes = ctypes.c_float, [ctypes.c_float] * 3
BOX = 0xFFFFFFFF_00000000  # above a float32 that is alone
NAN64, NAN32 = 0x7FF80000_00000000, 0x7FC00000
ONE, OTHER = struct.Struct("<d"), struct.Struct("<Q")
ONE32, OTHER32 = struct.Struct("<f"), struct.Struct("<I")


def double(bits: int) -> float:
    return float(ONE.unpack(OTHER.pack(bits))[0])


def bits64(value: float) -> int:
    return NAN64 if value != value else int(OTHER.unpack(ONE.pack(value))[0])


def single(bits: int) -> float:
    """The lower half; NaN where a float64 is in the register."""
    return float(ONE32.unpack(OTHER32.pack(bits & 0xFFFFFFFF))[0]) if bits & BOX == BOX else math.nan


def lane(bits: int) -> float:
    return float(ONE32.unpack(OTHER32.pack(bits & 0xFFFFFFFF))[0])


def lane_bits(value: float) -> int:
    """Rounded to float32."""
    return NAN32 if value != value else int(OTHER32.unpack(bytes(ctypes.c_float(value)))[0])


def bits32(value: float) -> int:
    return BOX | lane_bits(value)


def divided(a: float, b: float) -> float:
    if b == 0:
        return math.nan if a == 0 or a != a else math.copysign(math.inf, a) * math.copysign(1.0, b)
    return a / b


def root(a: float) -> float:
    return math.nan if a < 0 else math.sqrt(a)


def product(a: float, b: float) -> float:
    return a * b


def smaller(a: float, b: float) -> float:
    """A number rather than NaN, -0 below 0."""
    if a != a or b != b:
        return b if a != a else a
    return (a if math.copysign(1, a) < math.copysign(1, b) else b) if a == b else min(a, b)


def larger(a: float, b: float) -> float:
    return -smaller(-a, -b)


def integer(value: float, rounding: int, *, is_signed: bool) -> int:
    """fcvt.w, fcvt.wu: towards zero (1) or to the nearest; saturating."""
    low, high = (-(1 << 31), (1 << 31) - 1) if is_signed else (0, (1 << 32) - 1)
    if value != value or value == math.inf:
        return high
    if value == -math.inf:
        return low & 0xFFFFFFFF
    whole = math.trunc(value) if rounding == 1 else math.floor(value) if rounding == 2 else round(value)
    return min(max(whole, low), high) & 0xFFFFFFFF
