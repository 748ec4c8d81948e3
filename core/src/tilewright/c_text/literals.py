"""Knows how numbers are written in C so that every compiler reads the same bits. Does not know what they mean."""

from __future__ import annotations

import math


def c_float(value: float) -> str:
    """A float32 as a hexadecimal literal, `INFINITY` or `NAN` (math.h)."""
    value = float(value)
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    return f"{value.hex()}f"


def c_double(value: float) -> str:
    """A float64 as a hexadecimal literal, `INFINITY` or `NAN` (math.h)."""
    return c_float(value).removesuffix("f")


def c_int(value: int) -> str:
    """An int32, int64 or uint64; the most negative ones need care, because `-` is an operator in C."""
    if value == -(2**31):
        return "INT32_MIN"
    if value == -(2**63):
        return "INT64_MIN"
    if value >= 2**63:
        return f"UINT64_C({value})"
    return str(value) if -(2**31) < value < 2**31 else f"INT64_C({value})"
