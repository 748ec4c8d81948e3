"""Knows how numbers, and sums and products with them, are written in C, so that every compiler reads the same bits.
Does not know what they mean.
"""

from __future__ import annotations

import ctypes
import math
import re

from tilewright.ir.tensors.dtypes import DType


def c_float(value: float) -> str:
    """The float32 that is nearest, as a hexadecimal literal, `INFINITY` or `NAN` (math.h)."""
    text = c_double(ctypes.c_float(value).value)
    return f"{text}f" if "x" in text else text


def c_double(value: float) -> str:
    """A float64 as a hexadecimal literal, `INFINITY` or `NAN` (math.h)."""
    value = float(value)
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    return value.hex()


def needs_math(code: str) -> bool:
    """Whether C has a literal of `c_float` or `c_double` that math.h defines."""
    return re.search(r"\b(INFINITY|NAN)\b", code) is not None


def c_int(value: int) -> str:
    """An int32, int64 or uint64; the most negative ones need care, because `-` is an operator in C."""
    if value == -(2**31):
        return "INT32_MIN"
    if value == -(2**63):
        return "INT64_MIN"
    if value >= 2**63:
        return f"UINT64_C({value})"
    return str(value) if -(2**31) < value < 2**31 else f"INT64_C({value})"


def c_element(value: float, dtype: DType) -> str:
    """A value as what C stores for an element of the type: floats of 16 bits are their bits."""
    import numpy as np

    if dtype.is_half:
        with np.errstate(over="ignore", invalid="ignore"):
            return f"0x{int(np.asarray(value).astype(dtype.numpy).view(np.uint16)):04x}"
    if dtype.is_float:
        return c_double(value) if dtype is DType.F64 else c_float(value)
    return c_int(int(value))


def times(count: int, of: str) -> str:
    """`count * of` as C; `of` is a name, a member or a call, so that it needs no parentheses."""
    if count == 0 or of == "1":
        return str(count)
    return of if count == 1 else f"{count} * {of}"


def added(*terms: str | int) -> str:
    """The sum of the terms as C, products in parentheses, those left out that are 0."""
    summed = [text for text in map(str, terms) if text != "0"]
    return " + ".join(summed if len(summed) == 1 else map(_closed, summed)) or "0"


def _closed(term: str) -> str:
    return f"({term})" if " * " in term else term
