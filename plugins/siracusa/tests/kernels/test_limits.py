"""Limits of results: one instruction where they are the type's, and zero points where they cannot wrap."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.api.graph import Requant
from tilewright_siracusa.kernels.limits import SAFE, limit_of, limits


def requant(low: int, high: int, zero_point: int = 0) -> Requant:
    return Requant(scale=(0.5,), zero_point=zero_point, low=low, high=high)


@pytest.mark.parametrize(("low", "high", "reach", "limit"), [
    (-128, 127, 100.0, "i8"), (0, 255, 100.0, "u8"), (-127, 127, 100.0, "any"), (0, 127, 100.0, "any"),
    (-128, 127, SAFE, "any"), (0, 255, SAFE - 1, "u8"),
])  # fmt: skip
def test_which_limit(low: int, high: int, reach: float, limit: str) -> None:
    assert limit_of(requant(low, high), reach) == limit


@given(st.integers(-128, 127), st.integers(-300, 300))
def test_limits_before_and_after_the_zero_point(zero_point: int, value: int) -> None:
    """`any` clamps and then adds the zero point; the others add it and then clamp to the type. Both are the same."""
    given = requant(-128, 127, zero_point)
    found = {}
    for limit in ("any", "i8"):
        fields = {name: int(number) for name, number in re.findall(r"\.(\w+) = (-?\d+)", limits(given, limit))}
        low, high, zero = fields["low"], fields["high"], fields["zero_point"]
        found[limit] = min(max(value, low), high) + zero if limit == "any" else min(max(value + zero, low), high)
    assert found["any"] == found["i8"] == min(max(value + zero_point, -128), 127)
