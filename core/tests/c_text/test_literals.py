"""Numbers in C: what a compiler reads is what was meant, to the bit."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tilewright.c_text.literals import added, c_double, c_float, c_int, needs_math, times


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_a_float_is_its_hexadecimal_form(value: float) -> None:
    text = c_float(value)
    assert text.endswith("f")
    assert struct.pack("<f", float.fromhex(text[:-1])) == struct.pack("<f", value)


@given(st.floats(width=64))
@example(3.5e38)
@example(-1e300)
@example(1e-50)
def test_any_number_is_rounded_to_float32(value: float) -> None:
    with np.errstate(over="ignore"):
        expected = float(np.float32(value))
    if math.isfinite(expected):
        assert float.fromhex(c_float(value).removesuffix("f")) == expected
    else:
        assert c_float(value) == c_float(expected)


def test_what_is_no_number() -> None:
    assert [c_float(one) for one in (math.inf, -math.inf, math.nan)] == ["INFINITY", "-INFINITY", "NAN"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (-7, "-7"),
        (2**31 - 1, "2147483647"),
        (-(2**31) + 1, "-2147483647"),
        (-(2**31), "INT32_MIN"),
        (2**31, "INT64_C(2147483648)"),
        (-(2**31) - 1, "INT64_C(-2147483649)"),
        (-(2**63), "INT64_MIN"),
        (2**64 - 1, "UINT64_C(18446744073709551615)"),
    ],
)
def test_integers_have_the_type_that_holds_them(value: int, text: str) -> None:
    assert c_int(value) == text


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_what_math_h_defines_is_told_from_what_a_compiler_reads_by_itself(value: float) -> None:
    assert needs_math(f"tw_clip(x, 0.0f, {c_float(value)})")
    assert needs_math(c_double(value))
    assert not needs_math(f"tw_clip(x, {c_float(0.5)}, {c_int(3)}, AT_INFINITY)")


@pytest.mark.parametrize(("count", "text"), [(0, "0"), (1, "p.step"), (2, "2 * p.step"), (-1, "-1 * p.step")])
def test_products(count: int, text: str) -> None:
    assert times(count, "p.step") == text
    assert times(count, "1") == str(count)


@pytest.mark.parametrize(
    ("terms", "text"),
    [
        (("w", 0), "w"),
        (("w", 4), "w + 4"),
        ((times(0, "row"), times(1, "column")), "column"),
        (("0", 0), "0"),
        ((), "0"),
    ],
)
def test_sums(terms: tuple[str | int, ...], text: str) -> None:
    assert added(*terms) == text
