"""The error model: what is allowed covers what happens at its worst, and not much more."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tilewright.ir.graphs.graph import Attribute, Node
from tilewright.operators.shared.float_results import (
    clip_limits,
    clip_literals,
    clipped,
    dot_tolerance,
    or_overflow,
    rounded_and_clipped,
    ulp_tolerance,
)

finite = st.floats(width=32, allow_nan=False, allow_infinity=False, max_value=2.0**100, min_value=-(2.0**100))


@given(finite, st.integers(1, 8))
@example(0.0, 1)
@example(float(np.float32(2.0**-149)), 1)
@example(1.0, 4)
def test_units_in_the_last_place(value: float, steps: int) -> None:
    """`steps` neighbours away is allowed; three times as many, and two, never."""
    exact, bits = np.float32(value), np.float32(np.abs(value)).view(np.int32)
    near, far = ((bits + more).astype(np.int32).view(np.float32) for more in (steps, 3 * steps + 2))
    limit = float(ulp_tolerance(steps, np.asarray(exact, np.float64)))
    assert float(near) - abs(value) <= limit < float(far) - abs(value)


@given(st.integers(0, 2**32), st.integers(0, 60), st.floats(0, 80))
def test_sums_in_any_order(seed: int, terms: int, spread: float) -> None:
    """Products of mixed signs and sizes, down to where float32 loses them, added one after the other."""
    rng = np.random.default_rng(seed)
    a, b = (rng.standard_normal(terms) * 2.0 ** rng.uniform(-spread, 0, terms) for _ in range(2))
    a, b = a.astype(np.float32), b.astype(np.float32)
    found = np.float32(0)
    with np.errstate(under="ignore"):
        for product in a * b:
            found += product
    exact = a.astype(np.float64) * b
    limit = dot_tolerance(terms, np.abs(exact).sum(), exact.sum())
    assert abs(float(found) - exact.sum()) <= limit


def test_tolerances_by_hand() -> None:
    """architecture, section 4: 8 sqrt(K) u sum|a b|, the rounding of the result, and what each product may lose."""
    u, tiny = 2.0**-24, 2.0**-149
    assert dot_tolerance(16, np.float64(3), np.float64(-2)) == 32 * u * 3 + 4 * u + 18 * tiny
    assert dot_tolerance(0, np.float64(0), np.float64(0)) == 2 * tiny
    double = dot_tolerance(16, np.float64(3), np.float64(-2), double=True)
    assert double == 2.0**-53 * (96 + 4)


def test_sums_that_leave_the_type_in_some_order_may_be_anything() -> None:
    """3e38 + 3e38 - 3e38 is infinite from the left, and finite from the right; an infinite term is so in any order."""
    largest = float(np.finfo(np.float32).max)
    for magnitude, allowed in ((largest, False), (largest * (1 + 2.0**-40), True), (np.inf, False), (np.nan, False)):
        limit = or_overflow(np.float64(1), np.float64(magnitude))
        assert (limit == np.inf) == allowed
    assert dot_tolerance(3, np.float64(9e38), np.float64(3e38)) == np.inf
    assert dot_tolerance(3, np.float64(9e38), np.float64(3e38), double=True) < 3e38


def node(**attributes: Attribute) -> Node:
    return Node(name="n", op="Conv", inputs=("x",), outputs=("y",), attributes=attributes)


def test_limits_are_float32_values() -> None:
    assert clip_limits(node(clip_low=0.1, clip_high=6)) == (float(np.float32(0.1)), 6.0)
    assert clip_limits(node()) == (-math.inf, math.inf)


def test_what_lies_above_the_upper_limit_ends_there() -> None:
    """ONNX: where min is above max, every element becomes max."""
    assert clip_limits(node(clip_low=7.0, clip_high=6.0)) == (6.0, 6.0)
    assert clipped(node(clip_low=7.0, clip_high=6.0), np.array([-1, 6.5, 9], np.float32)).tolist() == [6, 6, 6]


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.float16])
def test_nan_stays_and_so_does_the_type(kind: type[np.floating]) -> None:
    found = clipped(node(clip_low=-1.0), np.array([math.nan, -math.inf, 5, math.inf], kind))
    assert found.dtype == kind
    np.testing.assert_array_equal(found, np.array([math.nan, -1, 5, math.inf], kind))


def test_rounded_before_it_is_clipped() -> None:
    """A float64 limit would let through what float32 then rounds to something larger."""
    above = float(np.float32(0.1)) + 1e-12
    found = rounded_and_clipped(node(clip_high=0.1), np.array([above, 1e300, -1e300]))
    assert found.dtype == np.float32
    assert found.tolist() == [np.float32(0.1), np.float32(0.1), -math.inf]


def test_literals() -> None:
    single, double = clip_literals(node(clip_low=-0.5, clip_high=0.1)), clip_literals(node(clip_high=0.1), double=True)
    assert {name: float.fromhex(text.removesuffix("f")) for name, text in single.items()} == {
        "low": -0.5, "high": float(np.float32(0.1))
    }  # fmt: skip
    assert all(text.endswith("f") for text in single.values())
    assert double["low"] == "-INFINITY" and float.fromhex(double["high"]) == float(np.float32(0.1))
